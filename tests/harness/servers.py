# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A debuginfod server of the tests' own, on loopback. It answers as it should, or as a hostile one."""
import http.server
import threading
import time


class Server:
    """answers: {build id: bytes of the file, or a word of Handler.do_GET()}; requests: the paths that were asked for."""

    def __init__(self, default="404"):
        self.answers, self.requests = {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.requests.append(self.path)
                try:
                    outer.answer(self, outer.answers.get(self.path.split("/")[2], default))
                except OSError:  # the client has gone
                    pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def answer(self, client, how):
        if isinstance(how, bytes):
            client.send_response(200)
            client.send_header("Content-Length", str(len(how)))
            client.end_headers()
            client.wfile.write(how)
        elif how.isdigit():
            client.send_error(int(how))
        elif how == "loop":
            client.send_response(302)
            client.send_header("Location", client.path)
            client.end_headers()
        elif how == "silent":
            time.sleep(1000)
        elif how == "slow":  # it begins, and goes on by drops
            client.send_response(200)
            client.send_header("Content-Length", "1000000000")
            client.end_headers()
            while True:
                client.wfile.write(b"x")
                client.wfile.flush()
                time.sleep(0.05)
        else:  # endless, without a length
            client.send_response(200)
            client.end_headers()
            while True:
                client.wfile.write(b"x" * 65536)

    def ids(self):
        """The build ids that were asked for, in order."""
        return [path.split("/")[2] for path in self.requests]
