// Package scheduler runs what is due on a minion: the jobs of its schedule (Scheduler) and the update of the mine
// (MineTimer). It owns the plan, with what is noted of each job. What is due is decided by modules/schedule; runs go to
// Options.Run, and it asks for grains and pillar by functions. Answers to salt/utils/schedule.py.
package scheduler
