import { h, api, address, query, Rows, Table, panel, say, tag, field, ago, span, spark, inWords, perSecond } from "./lib.js";

const kinds = { running: "good", starting: "info", restarting: "warn", backoff: "warn", stopping: "warn", dead: "bad", stopped: "none" };
const samples = 60; // a graph is the last minute

// actors shows the tree of the master, or of the minion that the address names.
export function actors({ main, live, params, who, can }) {
  const of = params.get("of") || "";
  const rows = new Rows(), past = new Map(), graphs = new Map();
  let shown = null, opened = params.get("actor") || "";
  const note = h("p.note.bad", { hidden: true, role: "alert" });
  const count = h("span.dim", { role: "status" });
  const which = h("input.mono", { "data-search": true, value: of, placeholder: "the master", spellcheck: "false", autocapitalize: "none" });
  const table = new Table("Actors", [
    { label: "Actor", cls: "name", cell: (a) => h("span", h("span.twig", { "aria-hidden": "true" }, a.depth ? "  ".repeat(a.depth - 1) + "└ " : ""), h("button.text", { type: "button", onclick: () => open(a.path) }, a.name), a.note ? h("small", " " + a.note) : "") },
    { label: "State", cell: (a) => tag(kinds[a.state] || "none", a.state + (a.stuck ? ", " + a.stuck + " stuck" : "")) },
    { label: "Messages/s", cls: "num", cell: (a) => h("span", graph(a.path), " ", h("span.share", perSecond(a.rate))) },
    { label: "Busy", cls: "num", cell: (a) => busy(a.busy) },
    { label: "Waiting", cls: "num", cell: (a) => (a.mailbox ? h("span", a.mailbox, h("small", " " + span(a.oldest_ms * 1000))) : "") },
    { label: "p99", cls: "num", cell: (a) => (a.p99_us ? span(a.p99_us) : "") },
    { label: "Restarts", cls: "num", cell: (a) => (a.restarts ? String(a.restarts) : "") },
    { label: "Last death", cell: (a) => (a.died_at ? h("span", ago(a.died_at), " ", h("small", cut(a.died_of, 70))) : "") },
  ], { fixed: true, changed: (tr, was, now) => {
    if (was.restarts === now.restarts) return;
    tr.classList.add("flash");
    setTimeout(() => tr.classList.remove("flash"), 4000);
  } });

  const cut = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);
  function busy(share) {
    const bar = h("i");
    bar.style.width = Math.min(100, share * 100) + "%";
    return h("span.busy", h("span.meter", { "aria-hidden": "true" }, bar), h("span.share", (share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0) + " %"));
  }
  function graph(path) {
    const el = spark(past.get(path) || []);
    graphs.set(path, el);
    return el;
  }
  // sample runs each second, so that a graph moves on even if nothing changes. There is no value for a second in
  // which the page slept or the stream was interrupted.
  let sampled = 0;
  function sample() {
    const since = performance.now() - sampled, slept = sampled && since > 2500 ? Math.min(samples, Math.round(since / 1000) - 1) : 0;
    const known = live.up && note.hidden;
    sampled = performance.now();
    for (const path of past.keys()) if (!rows.map.has(path)) past.delete(path);
    for (const path of graphs.keys()) if (!rows.map.has(path)) graphs.delete(path); // also graphs of actors that lived less than a second
    for (const a of rows.map.values()) {
      let list = past.get(a.path);
      if (!list) past.set(a.path, (list = []));
      for (let i = 0; i < slept; i++) list.push(null);
      list.push(known ? Math.max(0, a.rate) : null);
      list.splice(0, list.length - samples);
      const el = graphs.get(a.path);
      if (el?.isConnected) el.replaceChildren(...spark(list).childNodes);
    }
    if (shown?.graph.isConnected) drawShown();
  }
  function drawShown() {
    const list = past.get(shown.path) || [];
    shown.graph.replaceChildren(...spark(list).childNodes);
    shown.words.textContent = inWords(list);
  }
  async function open(path) {
    let node;
    const gone = () => { opened = ""; shown = null; address({ of }); };
    opened = path;
    address({ of, actor: path });
    try { ({ node } = await api("GET", "actor?" + query({ of, path }))); } catch (err) { if (opened === path) panel.open(path, h("p.error", err.message), gone); return; }
    if (opened !== path || !table.el.isConnected) return; // the user has gone to another page meanwhile
    shown = { path, graph: spark([], "wide"), words: h("p.dim.words") };
    drawShown();
    const us = (x) => (x ? span(x) : "–");
    const facts = [["Path", h("span.mono", path)], ["State", h("span", tag(kinds[node.state] || "none", node.state), " since ", ago(node.since))], ["Incarnation", node.incarnation],
      ["Restarts", node.restarts + " (" + node.restarts_hour + " in the last hour)"], ["Messages", node.received + " received, " + node.sent + " sent, " + node.failed + " failed, " + node.lost + " lost"],
      ["In hand", node.in_hand ? node.in_hand + " for " + span(node.in_hand_ms * 1000) + (node.note ? " (" + node.note + ")" : "") : "nothing"],
      ["Handling", "p50 " + us(node.handling.p50_us) + ", p99 " + us(node.handling.p99_us) + ", longest " + us(node.handling.max_us)],
      ["Waiting", "p50 " + us(node.waiting.p50_us) + ", p99 " + us(node.waiting.p99_us) + ", longest " + us(node.waiting.max_us)]];
    const stack = h("pre", { hidden: true, tabindex: 0, "aria-label": "Stack" });
    const body = panel.open(node.name, [h("h2", "Messages per second, the last minute"), shown.graph, shown.words, h("dl.facts", facts.map(([k, v]) => [h("dt", k), h("dd", v)]))], gone);
    if (can("stacks") && !of) body.append(h("button", { type: "button", onclick: async () => {
      try { stack.textContent = (await api("GET", "actor/stack?" + query({ path }))).stack || "No goroutine is working for it: it waits for messages."; } catch (err) { stack.textContent = err.message; }
      stack.hidden = false;
    } }, "What is it doing now?"), stack);
    const deaths = [...node.deaths].reverse();
    body.append(h("h2", deaths.length ? "Last deaths" : "It has not died."), ...deaths.map((d) => h("details", h("summary", ago(d.time), " " + d.reason), h("dl", h("dt", "Message in hand"), h("dd", d.message || "none"), h("dt", "Lived"), h("dd", span(d.lived_ms * 1000)), h("dt", "Incarnation"), h("dd", d.incarnation)),
      d.stack ? h("pre", { tabindex: 0, "aria-label": "Stack" }, d.stack) : h("p.dim", can("stacks") ? "It left no stack." : "Stacks are for those with the rule @wheel."))));
    for (const q of node.quarantine) body.append(h("p.note", "Set aside: " + q.message + " (" + q.size + " bytes): " + q.reason));
  }
  function paint() {
    const list = [...rows.map].map(([key, row]) => ({ key, row })).sort((a, b) => a.row.order - b.row.order);
    table.set(list, "No actor is known.");
    const restarts = list.reduce((n, r) => n + r.row.restarts, 0);
    const text = list.length + " actors, " + restarts + (restarts === 1 ? " restart" : " restarts");
    if (count.textContent !== text) count.textContent = text;
  }
  live.open({ view: "actors", of }, {
    rows: (p) => {
      for (const [k, now] of Object.entries(p.set || {})) {
        const was = rows.map.get(k);
        if (was && now.restarts > was.restarts) say(now.name + " died and was restarted.");
      }
      rows.patch(p); paint();
      if (opened && !shown && !panel.isOpen()) open(opened); // the address names it
    },
    note: (n) => { note.textContent = n.text; note.hidden = !n.text; },
  });
  const timer = setInterval(sample, 1000);
  main.append(h("div.bar", h("h1", "Actors"), h("form.bar.tight", { onsubmit: (e) => { e.preventDefault(); location.hash = "#/actors" + (which.value.trim() ? "?of=" + encodeURIComponent(which.value.trim()) : ""); } },
    field("Master, or the id of a brine minion", which), h("button", "Show"), of ? h("a", { href: "#/actors" }, "The master") : ""), count), !of && who.missing ? h("p.note", who.missing) : "", note, table.el);
  return { close: () => { clearInterval(timer); table.close(); }, first: () => table.first() };
}
