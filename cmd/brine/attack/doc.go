// Package attack attacks a master and its minions that run as real processes, and checks that the attacks fail.
// It contains only tests and exports nothing. docs/security.md describes the protected assets and the
// attackers.
//
// A file is a class of attacks, or a part of one. roles_test.go contains the attackers: a stranger on the
// ports, a thief with the key of a minion (in namer_test.go one who seals any request), a limited user, and a
// neighbour on the machine. Each attack ends with good, a request of an honest user that must be answered
// within a second.
//
// The table lists the attacks and their tests. Brackets contain tests of parts without daemons, in the named
// folders:
//
//		class              attack                                              tests
//	id handling        ids that are no file names, lines or texts          TestHostileIDs [wire/auth TestValidID]
//	                   names longer than Salt's, as text and as bytes      TestSignInSizes, TestLongNames [wire/auth bounds]
//	exposure           every method, in clear and as a minion              TestStrangerMethods, TestExposedInClear, TestExposedSealed
//	impersonation      returns of others by id, resource, syndic, jid      TestThiefReturns [actors/master gate, below]
//	                   returns of foreign resources, and in jobs for       TestThiefResources [modules/fleet/speakers]
//	                   other minions                                       [actors/master TestReturnsExpected]
//	                   the load and the list of a stored job               TestThiefRewritesJobs
//	                   a thief beside the owner of the stolen key          TestThiefBeside
//	                   mines for another minion                            TestMineOfAnother
//	                   presence of others, 65,536 claims, huge topics      TestPresence..., TestTopicOf20MiB [modules/fleet/ledger]
//	                   pillars of others; pillars to be targeted by        [actors/master TestPillarOfOthers]
//	                   cached pillars: of ID:ENV, of other grains          [actors/master TestPillarCacheOfOthers, TestPillarCache]
//	                   states of another by master_tops                    [actors/master TestMasterTops, modules/tops TestAttacks]
//	replay             recorded publications, over ends of the process     TestReplay [actors/minion pastjobs: age, bounds]
//	                   recorded requests                                   [actors/master TestReplay]
//	downgrade          version 2 where it is refused; where it is allowed, TestVersion2Refused, TestVersion2Names,
//	                   requests in another name; ZMTP 1 and 2              TestVersion2Works, TestOldProtocols
//	traversal          files of keys, caches and banks in every argument   TestTraversalOfKeys [modules/fleet/keys, datacache]
//	                   served files by path, environment and link; pushed  TestServedFiles, TestThiefBeside [modules/fileserver, modules/fleet/pushed]
//	                   files and folders replaced by links meanwhile       TestSwappedFiles, TestSwappedFolders [modules/fileserver]
//	                   places of pushed files, by path and by number       TestPushedFiles [actors/master TestFileRecv, modules/fleet/pushed]
//	                   pillars by environment, include and import          [actors/master TestPillarOfOthers, modules/pillar attack]
//	token life         invalid and damaged tokens, those of former users   TestTokenLife, TestTokenFiles
//	log-in             forty at once, too many; other users and addresses  TestLoginStorm [modules/eauth failures]
//	                   the same through salt-api, which is one address     TestAPILoginStorm [actors/netapi/cherrypy TestLogInStorm...]
//	salt-api           guessed, cut and ended sessions; left-over tokens   TestAPISessions [actors/netapi/cherrypy attack]
//	                   rights that the rules do not give, in every form    TestAPILimited
//	                   fields for masters and syndics only, at each server TestAPIWordsOfMasters [actors/netapi/cherrypy TestFieldsOfChunks,
//	                                                                       actors/master TestAuthList, TestFieldsOfUsers]
//	                   connections held open in every way                  TestAPICrowd [modules/netapi room, proxies]
//	                   endless tokens; lists of functions for strangers    TestAPITokenStorm [actors/netapi/cherrypy TestTokenStorm, TestRunnersOf...]
//	                   bodies that expand to more than their length        TestAPIBodies [modules/netapi Test...Bodies, TestLingering]
//	                   requests with an ambiguous end; paths               [actors/netapi/cherrypy TestRequestShapes, TestStaticPaths]
//	                   sessions in logs                                    TestAPIStreams [actors/netapi/cherrypy TestNothingSecret...]
//	                   texts that a browser could run                      [cmd/brine/browser TestHostile...]
//	                   pages of other origins: cookies, log-ins            [actors/netapi/cherrypy ...OtherPages, tornado, wsgi, console]
//	                   clients that go away; streams of a revoked token    TestAPIClientsGo [actors/netapi/events, modules/netapi/websocket]
//	                   secrets and lines of others in streams; half        TestAPIStreams, TestAPIHalfSockets
//	                   handshakes; tokens in addresses
//	injection          arguments other than the checked ones               TestLimitedArguments, TestLimitedForms, TestLimitedBlacklist
//	                   fields of a publication, targets, peers             TestLimitedFields, TestLimitedTarget, TestLimitedPeer
//	                   runners and functions of files, pillars, schedules  TestLimitedContent
//	                   lines of the log; of the terminal                   TestLogLines [cmd/brine TestTerminalOutput]
//	                   logs that grow with the data of strangers           TestStrangersFillLogs [cmd/session TestWalls, modules/fleet/door TestWall...]
//	                   ids in commands of external pillars                 TestMinionTexts [modules/pillar TestShellSigns]
//	                   ids, grains, tags, data in templates of the master  TestMinionTexts, TestMachineFilters
//	                   the same on a minion with a Reactor                 [actors/minion TestReactorShell, TestReactorRefuses]
//	                   ids in SQL and in the command of ext_nodes          [modules/pillar TestPostgresAttacks, modules/tops TestAttacks]
//	                   ids as keys of Redis, keys too large                [modules/pillar TestRedisAttacks]
//	                   names that are commands, returners of their choice, TestThiefOfContent
//	                   cached pillars, branches not served, line ends      [modules/returners/jobcache, modules/fileserver/gitfs]
//	                   scripts of root in folders of others                [modules/execution/cmdmod TestScriptPlace, TestScriptRace]
//	signatures         returns with no signature, or with another one      TestReturnSignatures [actors/master TestSyndics]
//	                   publications made by a thief                        TestForgedPublications [wire/auth TestPairSigned]
//	denial of service  targets and patterns of strangers and of thieves    TestStrangerTargets, TestStrangerFunctions,
//	                                                                       TestStrangerClears, TestThiefTargets [modules/matchers limit]
//	                   requests that wait in a lane, or for a turn         [actors/master TestWaitsTooLong, TestAnsweredInTurn]
//	                   every file of every environment, hostile names      TestThiefOfAllFiles [modules/fileserver TestMinions...]
//	                   deep and long lists in commands about files         TestListsOfFileCommands
//	                   hashes that take minutes                            TestCostlyHash
//	                   pillars that hang, never end or are requested often TestPillarTemplates [actors/master TestPillarHangs, TestManyPillars]
//	                   incomplete requests, endless frames, deaf peers     TestHalfSent, TestHoard, TestHoardInGroup,
//	                                                                       TestReturnsBesideHoarders [wire/zmq guard]
//	                   endless small requests                              TestFloodOfGuests
//	                   floods of a webhook, tags in its paths              TestWebhookPort [modules/engines TestWebhook...]
//	                   pending keys: number, rate by address               TestPendingFlood, TestPendingRate
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
//	                   invalid tags, at every entrance of the bus          TestTagsAtEveryDoor [wire/event TestRefusals]
//	                   fields that end an operator's salt                  TestThiefEndsTools [cmd/brine/interop thief: Salt's salt]
//	secrets            logs, bus, caches, bundle, argument lists           TestSecrets, TestSecretOptions, TestSecretsOfPillar
//	                   modes of all files; access of another user          TestModes, TestModesOfContent, TestNeighbour, TestNeighbourTools
//	weak keys          short keys and small exponents, of all three        TestWeakKeys, TestWeakKeysAllowed, TestWeakOwnKeys
//	failing open       options that cannot be honoured, lists of modules   TestFailOpen... [config TestStandingIsComplete]
//	stale trust        another key for an id, withdrawn rules              TestStaleSession, TestStaleRules [actors/master TestDeletedKeyEndsSession]
package attack
