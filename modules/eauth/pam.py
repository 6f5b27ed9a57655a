# Asks PAM whether a password is right. It reads "service NUL user NUL password" from its standard input, where it came from itself, and ends with
# 0: yes, the groups of the user stand on standard output, with a NUL behind each; 1: no; 2: PAM cannot tell, standard error says why.
import ctypes
import grp
import os
import pwd
import resource
import sys

ECHO_OFF, ECHO_ON = 1, 2
CONV_ERR = 19
# PERM_DENIED, AUTH_ERR, USER_UNKNOWN, MAXTRIES, NEW_AUTHTOK_REQD, ACCT_EXPIRED
REFUSALS = (6, 7, 10, 11, 12, 13)


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


CONVERSATION = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(Message)),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
)


class Conversation(ctypes.Structure):
    _fields_ = [("talk", CONVERSATION), ("data", ctypes.c_void_p)]


def answering(user, password):
    libc = ctypes.CDLL(None)
    libc.calloc.restype = libc.strdup.restype = ctypes.c_void_p
    libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    libc.strdup.argtypes = [ctypes.c_char_p]

    def talk(count, messages, place, _):
        if not 0 < count <= 32:
            return CONV_ERR
        at = libc.calloc(count, ctypes.sizeof(Response))  # PAM frees it, and the texts
        if not at:
            return CONV_ERR
        answers = (Response * count).from_address(at)
        for i in range(count):
            style = messages[i].contents.style
            if style == ECHO_OFF:
                answers[i].text = libc.strdup(password)
            elif style == ECHO_ON:
                answers[i].text = libc.strdup(user)
        place[0] = at
        return 0

    return CONVERSATION(talk)


def ask(service, user, password):
    pam = ctypes.CDLL("libpam.so.0")
    pam.pam_strerror.restype = ctypes.c_char_p
    pam.pam_strerror.argtypes = pam.pam_authenticate.argtypes = pam.pam_acct_mgmt.argtypes = pam.pam_end.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
    ]
    handle = ctypes.c_void_p()
    conversation = Conversation(answering(user, password), None)
    code = pam.pam_start(service, user, ctypes.byref(conversation), ctypes.byref(handle))
    if code == 0:
        code = pam.pam_authenticate(handle, 0)
    if code == 0:
        code = pam.pam_acct_mgmt(handle, 0)
    why = pam.pam_strerror(handle, code).decode("utf-8", "replace")
    pam.pam_end(handle, code)
    return code, why


def groups(user):
    try:
        numbers = os.getgrouplist(os.fsdecode(user), pwd.getpwnam(os.fsdecode(user)).pw_gid)
    except KeyError:  # PAM knows users that this machine does not
        return
    for number in numbers:
        try:
            yield os.fsencode(grp.getgrgid(number).gr_name)
        except KeyError:
            pass


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    service, user, password = sys.stdin.buffer.read().split(b"\0")
    code, why = ask(service, user, password)
    if code == 0:
        sys.stdout.buffer.write(b"".join(g + b"\0" for g in groups(user)))
        return 0
    if code in REFUSALS:
        return 1
    sys.stderr.write(why)
    return 2


try:
    sys.exit(main())
except Exception as e:
    sys.stderr.write(type(e).__name__)  # its text may show what was read
    if isinstance(e, OSError) and "libpam" in str(e):
        sys.stderr.write(": there is no libpam.so.0")
    sys.exit(2)
