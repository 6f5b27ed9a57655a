// Package loader is what every function stands on that an operator can call: the registry of modules and their
// functions, the binding of arguments in the words of Python, the call a function receives, and the execution of a
// whole job with Salt's result mapping.
//
// A module is a folder with Salt's file name, one function Module, and one line in modules/all. The parameters of a
// function are a struct (see Fn). A registry makes the functions of a module when somebody first asks for it. Modules
// come from a Source.
//
// The package holds no function of its own (see modules/execution), starts nothing and knows neither sockets nor
// actors: what a function needs of the daemon around it comes in through the interfaces of Host. It answers to
// salt/minion.py (load_args_and_kwargs, _execute_job_function, _thread_return, _thread_multi_return) and to
// salt/loader/lazy.py.
package loader
