// Package modules is what every execution function stands on: the registry of functions with their declared
// signatures, the binding of arguments in the words of Python, the call a function receives, and the execution
// of a whole job with Salt's result mapping.
//
// It holds no function of its own (see modules/execution), starts nothing and knows neither sockets nor actors:
// what a function needs of the daemon around it comes in through the interfaces of Host. It answers to
// salt/minion.py (load_args_and_kwargs, _execute_job_function, _thread_return, _thread_multi_return) and to
// salt/loader/lazy.py.
package modules
