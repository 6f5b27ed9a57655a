// Package attack attacks a master and its minions that run as real processes, and checks that what it tries comes to
// nothing. It has tests only and exports nothing; docs/security.md tells what is defended against whom.
//
// A file is a class of attacks, or a part of one. Those who attack are people of roles_test.go: a stranger on the
// ports, a thief who has the key of a minion (namer_test.go: who seals what he wants), a limited user, a neighbour on
// the machine. Each attack ends with good, a request of an honest user that must be answered within a second.
//
// What is attacked where; in brackets the tests that attack parts without daemons, beside those of the folder named:
//
//	class              what is attacked                                    tests
//	id handling        ids that are no file names, lines or texts          TestHostileIDs [wire/auth TestValidID]
//	                   names longer than Salt's, as text and as bytes      TestSignInSizes, TestLongNames [wire/auth bounds]
//	exposure           every method there is, in clear, and as a minion    TestStrangerMethods, TestExposedInClear, TestExposedSealed
//	impersonation      returns of others by id, resource, syndic, jid      TestThiefReturns [actors/master gate, below]
//	                   returns of what is no resource of its own, and in   TestThiefResources [modules/fleet/speakers]
//	                   jobs that are not for it                            [actors/master TestReturnsExpected]
//	                   the load and the list of a stored job               TestThiefRewritesJobs
//	                   a thief beside the minion whose key he has          TestThiefBeside
//	                   mines that are for another minion                   TestMineOfAnother
//	                   presence of others, 65,536 claims, huge topics      TestPresence..., TestTopicOf20MiB [modules/fleet/ledger]
//	                   pillars of others; pillars to be targeted by        [actors/master TestPillarOfOthers]
//	                   pillars that are kept: of ID:ENV, of other grains    [actors/master TestPillarCacheOfOthers, TestPillarCache]
//	                   states of another by master_tops                    [actors/master TestMasterTops, modules/tops TestAttacks]
//	replay             recorded publications, over ends of the process     TestReplay [actors/minion pastjobs: age, bounds]
//	                   recorded requests                                   [actors/master TestReplay]
//	downgrade          version 2 where it is refused; where it is let in,  TestVersion2Refused, TestVersion2Names,
//	                   all that names another; ZMTP 1 and 2                TestVersion2Works, TestOldProtocols
//	traversal          files of keys, caches and banks in every argument   TestTraversalOfKeys [modules/fleet/keys, datacache]
//	                   served files by path, environment and link; pushed  TestServedFiles, TestThiefBeside [modules/fileserver, modules/fleet/pushed]
//	                   files and folders that become links meanwhile       TestSwappedFiles, TestSwappedFolders [modules/fileserver]
//	                   places of pushed files, by path and by number       TestPushedFiles [actors/master TestFileRecv, modules/fleet/pushed]
//	                   pillars by environment, include and import          [actors/master TestPillarOfOthers, modules/pillar attack]
//	token life         tokens that are none, damaged, of users who left    TestTokenLife, TestTokenFiles
//	log-in             forty at once, too many; other users and addresses  TestLoginStorm [modules/eauth failures]
//	                   the same through salt-api, which is one address     TestAPILoginStorm [actors/netapi/cherrypy TestLogInStorm...]
//	salt-api           sessions that are guessed, cut, ended; tokens left  TestAPISessions [actors/netapi/cherrypy attack]
//	                   what rules do not give, in every form               TestAPILimited
//	                   what only masters and syndics say, at each server   TestAPIWordsOfMasters [actors/netapi/cherrypy TestFieldsOfChunks,
//	                                                                       actors/master TestAuthList, TestFieldsOfUsers]
//	                   connections that are held in every way              TestAPICrowd [modules/netapi room, proxies]
//	                   tokens without end; lists of functions for all      TestAPITokenStorm [actors/netapi/cherrypy TestTokenStorm, TestRunnersOf...]
//	                   bodies that mean more than their length             TestAPIBodies [modules/netapi Test...Bodies, TestLingering]
//	                   requests whose end is a matter of opinion; paths    [actors/netapi/cherrypy TestRequestShapes, TestStaticPaths]
//	                   sessions in logs                                    TestAPIStreams [actors/netapi/cherrypy TestNothingSecret...]
//	                   texts that become more in a browser                 [cmd/brine/browser TestHostile...]
//	                   pages of other origins: cookies, log-ins            [actors/netapi/cherrypy ...OtherPages, tornado, wsgi, console]
//	                   clients that go; streams of a revoked token         TestAPIClientsGo [actors/netapi/events, modules/netapi/websocket]
//	                   secrets and lines of others in streams; half        TestAPIStreams, TestAPIHalfSockets
//	                   handshakes; tokens in addresses
//	injection          arguments that are not the checked ones             TestLimitedArguments, TestLimitedForms, TestLimitedBlacklist
//	                   fields of a publication, targets, peers             TestLimitedFields, TestLimitedTarget, TestLimitedPeer
//	                   runners and functions of files, pillars, schedules  TestLimitedContent
//	                   lines of the log; of the terminal                   TestLogLines [cmd/brine TestTerminalOutput]
//	                   logs that grow with what strangers send             TestStrangersFillLogs [cmd/session TestWalls, modules/fleet/door TestWall...]
//	                   ids in commands of external pillars                 TestMinionTexts [modules/pillar TestShellSigns]
//	                   ids, grains, tags, data in templates of the master  TestMinionTexts, TestMachineFilters
//	                   the same on a minion that has a Reactor             [actors/minion TestReactorShell, TestReactorRefuses]
//	                   ids in SQL and in the command of ext_nodes          [modules/pillar TestPostgresAttacks, modules/tops TestAttacks]
//	                   ids as keys of Redis, keys too large                [modules/pillar TestRedisAttacks]
//	                   names that are commands, returners of his choice,   TestThiefOfContent
//	                   kept pillars, branches not served, ends of lines    [modules/returners/jobcache, modules/fileserver/gitfs]
//	                   scripts of root in folders of others                [modules/execution/cmdmod TestScriptPlace, TestScriptRace]
//	signatures         returns without one, or with another                TestReturnSignatures [actors/master TestSyndics]
//	                   publications that a thief has made                  TestForgedPublications [wire/auth TestPairSigned]
//	denial of service  targets and patterns of strangers and of thieves    TestStrangerTargets, TestStrangerFunctions,
//	                                                                       TestStrangerClears, TestThiefTargets [modules/matchers limit]
//	                   what waits in a lane, in a minion's turn            [actors/master TestWaitsTooLong, TestAnsweredInTurn]
//	                   every file of every environment, hostile names      TestThiefOfAllFiles [modules/fileserver TestMinions...]
//	                   deep and long lists in commands about files         TestListsOfFileCommands
//	                   hashes that take minutes                            TestCostlyHash
//	                   pillars that hang, never end or are asked en masse  TestPillarTemplates [actors/master TestPillarHangs, TestManyPillars]
//	                   halves of requests, frames without end, deaf peers  TestHalfSent, TestHoard, TestHoardInGroup,
//	                                                                       TestReturnsBesideHoarders [wire/zmq guard]
//	                   small requests without end                          TestFloodOfGuests
//	                   floods of a webhook, tags in its paths              TestWebhookPort [modules/engines TestWebhook...]
//	                   keys that wait: number, rate by address             TestPendingFlood, TestPendingRate
//	                   lines about keys that take years for an id          TestSlowSignInLines [modules/matchers TestSlowLines]
//	                   descriptors, sockets, memory, processes             TestDescriptors, TestLocalDescriptors, TestMemoryLimit,
//	                                                                       TestMinionDescriptors, TestMinionMemory, TestMinionProcesses,
//	                                                                       TestMinionTemplates [modules/renderers/jinja TestLimits]
//	                   a million events, quotas, a full job store          TestThiefFloodsEvents, TestThiefQuotas,
//	                                                                       TestThiefEvictsNothing [actors/master thiefquota, room]
//	                   returns that cannot be packed again                 TestThiefDeepReturns [modules/fleet/jobstore alone]
//	                   full disks: job store, data cache, journal, keys    TestFullDiskMaster, TestFullDiskMinion, TestFullDiskKeys
//	                   full disks: events, reactions, pillars, git, files  TestFullDiskContent, TestFullDiskFiles [modules/fileserver/gitfs TestNotKept]
//	                   a clock that jumps; a month                         [actors/master, actors/minion TestMonth, TestClockJumps]
//	event injection    tags of masters, tools and others, in every form    TestThiefEvents [actors/master TestGateTable]
//	                   tags that are none, at every door of the bus        TestTagsAtEveryDoor [wire/event TestRefusals]
//	                   fields that end an operator's salt                  TestThiefEndsTools [cmd/brine/interop thief: Salt's salt]
//	secrets            logs, bus, caches, bundle, argument lists           TestSecrets, TestSecretOptions, TestSecretsOfPillar
//	                   modes of all files; what another user opens         TestModes, TestModesOfContent, TestNeighbour, TestNeighbourTools
//	weak keys          short ones and small exponents, of all three        TestWeakKeys, TestWeakKeysAllowed, TestWeakOwnKeys
//	failing open       options that cannot be honoured, lists of modules   TestFailOpen... [config TestStandingIsComplete]
//	stale trust        another key for an id, rules that were withdrawn    TestStaleSession, TestStaleRules [actors/master TestDeletedKeyEndsSession]
package attack
