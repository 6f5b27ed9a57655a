package pip

import "brine/wire/payload"

// installArgs are the parameters of pip.install, in Salt's order.
type installArgs struct {
	Pkgs                   any          `arg:"pkgs=None"`
	Requirements           any          `arg:"requirements=None"`
	BinEnv                 any          `arg:"bin_env=None"`
	UseWheel               bool         `arg:"use_wheel=False"`
	NoUseWheel             bool         `arg:"no_use_wheel=False"`
	Log                    any          `arg:"log=None"`
	Proxy                  any          `arg:"proxy=None"`
	Timeout                any          `arg:"timeout=None"`
	Editable               any          `arg:"editable=None"`
	FindLinks              any          `arg:"find_links=None"`
	IndexURL               any          `arg:"index_url=None"`
	ExtraIndexURL          any          `arg:"extra_index_url=None"`
	NoIndex                bool         `arg:"no_index=False"`
	Mirrors                any          `arg:"mirrors=None"`
	Build                  any          `arg:"build=None"`
	Target                 any          `arg:"target=None"`
	Download               any          `arg:"download=None"`
	DownloadCache          any          `arg:"download_cache=None"`
	Source                 any          `arg:"source=None"`
	Upgrade                bool         `arg:"upgrade=False"`
	ForceReinstall         bool         `arg:"force_reinstall=False"`
	IgnoreInstalled        bool         `arg:"ignore_installed=False"`
	ExistsAction           any          `arg:"exists_action=None"`
	NoDeps                 bool         `arg:"no_deps=False"`
	NoInstall              bool         `arg:"no_install=False"`
	NoDownload             bool         `arg:"no_download=False"`
	GlobalOptions          any          `arg:"global_options=None"`
	InstallOptions         any          `arg:"install_options=None"`
	User                   any          `arg:"user=None"`
	Cwd                    any          `arg:"cwd=None"`
	PreReleases            bool         `arg:"pre_releases=False"`
	Cert                   any          `arg:"cert=None"`
	AllowAllExternal       bool         `arg:"allow_all_external=False"`
	AllowExternal          any          `arg:"allow_external=None"`
	AllowUnverified        any          `arg:"allow_unverified=None"`
	ProcessDependencyLinks bool         `arg:"process_dependency_links=False"`
	Saltenv                any          `arg:"saltenv=base"`
	EnvVars                any          `arg:"env_vars=None"`
	UseVT                  bool         `arg:"use_vt=False"`
	TrustedHost            any          `arg:"trusted_host=None"`
	NoCacheDir             bool         `arg:"no_cache_dir=False"`
	ExtraArgs              any          `arg:"extra_args=None"`
	CacheDir               any          `arg:"cache_dir=None"`
	NoBinary               any          `arg:"no_binary=None"`
	DisableVersionCheck    bool         `arg:"disable_version_check=False"`
	KW                     *payload.Map `arg:"**kwargs"`
}

// uninstallArgs are those of pip.uninstall.
type uninstallArgs struct {
	Pkgs         any  `arg:"pkgs=None"`
	Requirements any  `arg:"requirements=None"`
	BinEnv       any  `arg:"bin_env=None"`
	Log          any  `arg:"log=None"`
	Proxy        any  `arg:"proxy=None"`
	Timeout      any  `arg:"timeout=None"`
	User         any  `arg:"user=None"`
	Cwd          any  `arg:"cwd=None"`
	Saltenv      any  `arg:"saltenv=base"`
	UseVT        bool `arg:"use_vt=False"`
	ExtraArgs    any  `arg:"extra_args=None"`
}
