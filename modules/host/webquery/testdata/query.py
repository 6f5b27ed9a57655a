"""Records what salt.utils.http.query of Salt 3008.3 makes of the answers of a small web server; webtest has the same one.

Run with the Python of a Salt 3008 installation: python query.py > query.json
@ stands for the server, REFUSED for a port where nobody listens.
"""
import gzip
import http.server
import json
import socket
import threading

import salt.config
import salt.utils.http


class H(http.server.BaseHTTPRequestHandler):
    def log_message(self,*a): pass
    def do(self):
        n=int(self.headers.get("Content-Length") or 0); body=self.rfile.read(n).decode()
        p=self.path
        def say(code,ct,b,**h):
            b=b if isinstance(b,bytes) else b.encode()
            self.send_response(code)
            if ct: self.send_header("Content-Type",ct)
            for k,v in h.items(): self.send_header(k.replace("_","-"),v)
            self.send_header("Content-Length",str(len(b))); self.end_headers(); self.wfile.write(b)
        if p.startswith("/echo"):
            hs={k.lower():v for k,v in self.headers.items() if k.lower() in("content-type","authorization","x-a","user-agent","content-length","accept-encoding")}
            say(200,"text/plain",json.dumps([self.command,p,body,hs],sort_keys=True))
        elif p=="/json": say(200,"application/json",'{"b": [1, 2.5, null, true], "a": "\\u00e9"}')
        elif p=="/yaml": say(200,"text/yaml",'b: [1, x]\na: yes\n')
        elif p=="/xml": say(200,"application/xml",'<r><a>1</a><b><c>x</c><c>y</c></b></r>')
        elif p=="/plain": say(200,"text/plain",'plain')
        elif p=="/notype": say(200,None,'{"a": 1}')
        elif p=="/latin": say(200,"text/plain; charset=latin-1",'\xe9'.encode("latin-1"))
        elif p=="/404": say(404,"text/plain","nope")
        elif p=="/500": say(500,"text/plain","")
        elif p=="/204": say(204,None,"")
        elif p=="/to": say(302,None,"",Location="/echo/there")
        elif p=="/to307": say(307,None,"",Location="/echo/there")
        elif p=="/loop": say(302,None,"",Location="/loop")
        elif p=="/badjson": say(200,"application/json",'{')
        elif p=="/gzip":
            say(200,"application/json",gzip.compress(b'{"z": 1}'),Content_Encoding="gzip")
    do_GET=do_POST=do_PUT=do_DELETE=do_HEAD=do_PATCH=do
s=http.server.ThreadingHTTPServer(("127.0.0.1",0),H); threading.Thread(target=s.serve_forever,daemon=True).start()
U="http://127.0.0.1:%d"%s.server_port
opts=salt.config.DEFAULT_MINION_OPTS.copy()
rows=[["/json",{}],["/json",{"decode":True}],["/json",{"decode":True,"decode_type":"plain"}],["/json",{"status":True,"text":True}],["/yaml",{"decode":True}],["/yaml",{"decode":True,"decode_type":"yaml"}],
["/xml",{"decode":True}],["/plain",{"decode":True}],["/notype",{"decode":True}],["/json",{"decode":True,"decode_type":"nope"}],["/badjson",{"decode":True}],
["/latin",{}],["/404",{}],["/404",{"status":True}],["/404",{"raise_error":False,"status":True}],["/500",{}],["/204",{"status":True}],
["/to",{"username":"u","password":"p","header_dict":{"X-A":"1"}}],["/to",{"method":"POST","data":"x=1"}],["/to307",{"method":"POST","data":"x=1"}],["/loop",{}],
["/echo",{"params":{"a":"1 2","b":"ü"}}],["/echo?z=1",{"params":{"a":"&"}}],["/echo",{"method":"POST","data":{"a":"1 2","b":"ü"}}],["/echo",{"method":"POST","data":"raw"}],["/echo",{"method":"POST"}],
["/echo",{"method":"PUT","data":"raw","header_dict":{"X-A":"1","Content-Type":"text/x"}}],["/echo",{"header_list":["X-A: 1","bad","X-A: b:c"]}],["/echo",{"username":"u","password":"p"}],["/echo",{"username":"u"}],["/echo",{"auth":["u","p"]}],
["/echo",{"agent":"me"}],["/echo",{"method":"DELETE"}],["/echo",{"method":"get"}],["/json",{"test":True}],["/json",{"test":True,"test_url":"@/plain"}],["/gzip",{"decode":True}],["/json",{"decode_body":False}],["/json",{"method":"HEAD","status":True}]]
out=[]
for p,kw in rows:
    k=json.loads(json.dumps(kw).replace("@",U))
    try: a=salt.utils.http.query(U+p,opts=dict(opts),**k)
    except BaseException as e: a={"raised":type(e).__name__+": "+str(e)}
    if isinstance(a.get("body"),bytes): a["body"]={"bytes":a["body"].decode()}
    out.append([p,kw,json.loads(json.dumps(a,default=str).replace(U,"@"))])
c=socket.socket(); c.bind(("127.0.0.1",0)); port=c.getsockname()[1]; c.close()
for u,kw in [["http://127.0.0.1:%d/"%port,{}],["http://127.0.0.1:%d/"%port,{"status":True}],["ftp://127.0.0.1/x",{}],["nourl",{}],["",{}],["http://nosuch.invalid/",{}]]:
    try: a=salt.utils.http.query(u,opts=dict(opts),**kw)
    except BaseException as e: a={"raised":type(e).__name__+": "+str(e)}
    out.append([u.replace(str(port),"REFUSED"),kw,a])
print("[\n"+",\n".join(json.dumps(r) for r in out)+"\n]")
