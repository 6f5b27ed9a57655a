//go:build staticzmq

// Stubs for the libraries behind two transports and one mechanism of libzmq that brine never uses: PGM, NORM and GSSAPI.
// Debian has no static archives of the Kerberos libraries, and PGM's start-up alone costs every run of every tool a
// millisecond (it looks up protocol numbers). All stubs fail except PGM's start-up and end, whose success libzmq
// requires.
typedef unsigned int om_uint32;
#define GSS(name) om_uint32 name(om_uint32 *minor) { if (minor) *minor = 0; return 16u << 16; } // GSS_S_UNAVAILABLE
GSS(gss_accept_sec_context) GSS(gss_acquire_cred) GSS(gss_delete_sec_context) GSS(gss_display_name)
GSS(gss_import_name) GSS(gss_init_sec_context) GSS(gss_release_buffer) GSS(gss_release_cred)
GSS(gss_release_name) GSS(gss_unwrap) GSS(gss_wrap)
void *GSS_C_NT_USER_NAME, *GSS_C_NT_HOSTBASED_SERVICE;

int pgm_init(void) { return 1; }
int pgm_shutdown(void) { return 1; }
#define FAILS(name) long name(void) { return 0; }
FAILS(pgm_bind3) FAILS(pgm_close) FAILS(pgm_connect) FAILS(pgm_error_free) FAILS(pgm_free) FAILS(pgm_freeaddrinfo)
FAILS(pgm_getaddrinfo) FAILS(pgm_getsockopt) FAILS(pgm_gsi_create_from_data) FAILS(pgm_recvmsgv) FAILS(pgm_send)
FAILS(pgm_setsockopt) FAILS(pgm_socket)

const void *NORM_INSTANCE_INVALID, *NORM_SESSION_INVALID, *NORM_OBJECT_INVALID;
const unsigned int NORM_NODE_ANY = 0xffffffff;
FAILS(NormCreateInstance) FAILS(NormCreateSession) FAILS(NormDestroyInstance) FAILS(NormDestroySession)
FAILS(NormGetDescriptor) FAILS(NormGetNextEvent) FAILS(NormGetRandomSessionId) FAILS(NormIsUnicastAddress)
FAILS(NormNodeDelete) FAILS(NormObjectGetType) FAILS(NormObjectGetUserData) FAILS(NormObjectSetUserData)
FAILS(NormSetCongestionControl) FAILS(NormSetDefaultSyncPolicy) FAILS(NormSetDefaultUnicastNack) FAILS(NormSetLoopback)
FAILS(NormSetMulticastInterface) FAILS(NormSetRxPortReuse) FAILS(NormSetTTL) FAILS(NormStartReceiver)
FAILS(NormStartSender) FAILS(NormStopInstance) FAILS(NormStopReceiver) FAILS(NormStopSender) FAILS(NormStreamFlush)
FAILS(NormStreamOpen) FAILS(NormStreamRead) FAILS(NormStreamSeekMsgStart) FAILS(NormStreamWrite)
