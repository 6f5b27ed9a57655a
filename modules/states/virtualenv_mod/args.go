package virtualenv_mod

import "brine/wire/payload"

// managedArgs are the parameters of virtualenv.managed, in Salt's order.
type managedArgs struct {
	Name                   string       `arg:"name"`
	VenvBin                any          `arg:"venv_bin=None"`
	Requirements           any          `arg:"requirements=None"`
	SystemSitePackages     bool         `arg:"system_site_packages=False"`
	Distribute             bool         `arg:"distribute=False"`
	UseWheel               bool         `arg:"use_wheel=False"`
	Clear                  bool         `arg:"clear=False"`
	Python                 any          `arg:"python=None"`
	ExtraSearchDir         any          `arg:"extra_search_dir=None"`
	NeverDownload          any          `arg:"never_download=None"`
	Prompt                 any          `arg:"prompt=None"`
	User                   any          `arg:"user=None"`
	Cwd                    any          `arg:"cwd=None"`
	IndexURL               any          `arg:"index_url=None"`
	ExtraIndexURL          any          `arg:"extra_index_url=None"`
	PreReleases            bool         `arg:"pre_releases=False"`
	NoDeps                 bool         `arg:"no_deps=False"`
	PipDownload            any          `arg:"pip_download=None"`
	PipDownloadCache       any          `arg:"pip_download_cache=None"`
	PipExistsAction        any          `arg:"pip_exists_action=None"`
	PipIgnoreInstalled     bool         `arg:"pip_ignore_installed=False"`
	Proxy                  any          `arg:"proxy=None"`
	UseVT                  bool         `arg:"use_vt=False"`
	EnvVars                any          `arg:"env_vars=None"`
	NoUseWheel             bool         `arg:"no_use_wheel=False"`
	PipUpgrade             bool         `arg:"pip_upgrade=False"`
	PipPkgs                any          `arg:"pip_pkgs=None"`
	PipNoCacheDir          bool         `arg:"pip_no_cache_dir=False"`
	PipCacheDir            any          `arg:"pip_cache_dir=None"`
	ProcessDependencyLinks bool         `arg:"process_dependency_links=False"`
	NoBinary               any          `arg:"no_binary=None"`
	KW                     *payload.Map `arg:"**kwargs"`
}
