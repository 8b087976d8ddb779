/* A page opened from a disk (file:) may start no worker, and the theme's search is one. There, and only there, this runs
   the worker's script in a hidden frame, and hands messages to and fro. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = address => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: address, onload: loaded, onerror: failed });
        inside.document.body.append(script);
      });
      inside.importScripts = (...addresses) => addresses.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
      inside.postMessage = data => setTimeout(() => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      });
      this.frame = frame;
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
