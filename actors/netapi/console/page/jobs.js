import { h, api, address, copier, query, Rows, Table, tag, field, ago, span, jidTime, debounce } from "./lib.js";

const stateKinds = { running: "info", queued: "warn", silent: "bad", done: "good" };
const stateHelp = { running: "at work on a minion, or on its way", queued: "waits on its minions behind other jobs, or for its turn in a batch", silent: "no minion is working on it, and returns are missing: open it for the reasons", stored: "over a day old with returns missing, or kept where nobody counts them: open it to see what came back" };
const types = ["glob", "compound", "list", "pcre", "grain", "grain_pcre", "pillar", "nodegroup", "ipcidr"];

// jobs shows all jobs, or the one that the address names.
export function jobs(ctx) {
  return ctx.rest[0] ? one(ctx, ctx.rest[0]) : list(ctx);
}

function progress(j) {
  if (j.minions < 0) return "";
  if (j.returned < 0) return String(j.minions);
  const bar = h("i");
  bar.style.width = (j.minions ? (100 * j.returned) / j.minions : 100) + "%";
  return h("span.busy", h("span.meter" + (j.returned >= j.minions ? ".done" : ""), { "aria-hidden": "true" }, bar), h("span.share", j.returned + " of " + j.minions));
}

function list({ main, live, can, params }) {
  const rows = new Rows();
  let state = params.get("state") || "", text = (params.get("find") || "").toLowerCase(), sort = params.get("sort") || "";
  const told = () => address({ state, find: search.value.trim(), sort, tgt: params.get("tgt"), tgt_type: params.get("tgt_type"), fun: params.get("fun") });
  const note = h("p.note.bad", { hidden: true, role: "alert" });
  const chips = h("div.chips", { role: "group", "aria-label": "State of the job" });
  const search = h("input", { type: "search", "data-search": true, value: params.get("find") || "", placeholder: "function, target, user or job id", spellcheck: "false" });
  search.addEventListener("input", debounce(120, () => { text = search.value.trim().toLowerCase(); told(); paint(); }));
  const table = new Table("Jobs", [
    { label: "Function", cls: "name", sort: (j) => j.fun, cell: (j) => h("a.mono", { href: "#/jobs/" + j.jid }, j.fun || j.jid) },
    { label: "State", sort: (j) => j.state, cell: (j) => h("span", { title: stateHelp[j.state] }, tag(stateKinds[j.state] || "none", j.state), j.state === "running" && j.queued ? h("small", " waits on " + j.queued) : "") },
    { label: "Target", sort: (j) => j.tgt, cell: (j) => h("span.mono", j.tgt_type === "runner" ? h("small", "runner") : [j.tgt.length > 48 ? j.tgt.slice(0, 48) + "…" : j.tgt, j.tgt_type && j.tgt_type !== "glob" ? h("small", " " + j.tgt_type) : ""]) },
    { label: "Returned", cls: "num", sort: (j) => j.returned, cell: progress },
    { label: "User", sort: (j) => j.user, cell: (j) => j.user },
    { label: "Began", sort: (j) => j.jid, cell: (j) => ago(jidTime(j.jid)) },
  ], { by: 5, down: true, sort, sorted: (s) => { sort = s; told(); } });
  function paint() {
    const n = {};
    for (const j of rows.map.values()) n[j.state] = (n[j.state] || 0) + 1;
    const states = ["", "running", "queued", "silent", "done", "stored"].filter((s) => n[s] || s === state || !["silent", "stored"].includes(s));
    const sign = states.map((s) => s + n[s]).join() + state;
    if (chips.dataset.sign !== sign) {
      const at = [...chips.children].indexOf(document.activeElement);
      chips.dataset.sign = sign;
      chips.replaceChildren(...states.map((s) => h("button", { type: "button", "aria-pressed": String(s === state), onclick: () => { state = s; told(); paint(); } }, (s || "all") + " " + (s ? n[s] || 0 : rows.map.size))));
      chips.children[at]?.focus();
    }
    table.set([...rows.map].filter(([, j]) => (!state || j.state === state) && (!text || (j.fun + " " + j.tgt + " " + j.user + " " + j.jid).toLowerCase().includes(text))).map(([key, row]) => ({ key, row })),
      text || state ? "No job matches." : can("jobs") ? "No job yet." : "You have run no job yet.");
  }
  live.open({ view: "jobs" }, {
    rows: (p) => { rows.patch(p); note.hidden = true; paint(); },
    note: (n) => { note.textContent = n.text; note.hidden = !n.text; },
  });
  main.append(h("div.bar", h("h1", "Jobs")), can("run") ? runForm(params, can) : "", h("div.bar", chips, field("Search the newest jobs", search, ".grow")),
    can("jobs") ? "" : h("p.note", "The jobs of others are for those with the rule @jobs."), note, table.el);
  return { close: () => table.close(), first: () => table.first() };
}

// runForm runs a function. The functions of one minion of the target complete the user's input.
function runForm(params, can) {
  const tgt = h("input.mono", { required: true, placeholder: "*", value: params.get("tgt") || "", spellcheck: "false", autocapitalize: "none" });
  const kind = h("select", types.map((t) => h("option", { selected: t === params.get("tgt_type") }, t)));
  const fun = h("input.mono", { required: true, placeholder: "test.ping", value: params.get("fun") || "", spellcheck: "false", autocapitalize: "none", autocomplete: "off", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "functions" });
  const arg = h("input.mono", { placeholder: "words, name=value", spellcheck: "false", autocapitalize: "none" });
  const options = h("ul.options", { id: "functions", role: "listbox", "aria-label": "Functions", hidden: true });
  const sig = h("p.sig.dim", { role: "status" }, can("fleet") ? "" : "Type a target and a function that the rules allow.");
  const error = h("p.error", { role: "alert" });
  const go = h("button.main", "Run");
  const specs = new Map();
  let asked = "", at = -1;

  async function learn() {
    const target = tgt.value.trim() || "*";
    if (asked === target + kind.value) return;
    asked = target + kind.value;
    try {
      const got = await api("GET", "functions?" + query({ tgt: target, tgt_type: kind.value }));
      specs.clear();
      for (const f of got.functions) specs.set(f.name, f.args);
      hint();
      if (document.activeElement === fun) suggest();
    } catch (err) { sig.textContent = err.status === 403 || err.status === 401 ? "" : "No completion of functions: " + err.message; }
  }
  function hint() {
    const args = specs.get(fun.value.trim());
    sig.replaceChildren(...(args === undefined ? [specs.size ? specs.size + " functions to choose from" : ""] : [h("code", fun.value.trim() + " " + args)]));
    const typed = /(^|\s)([\w]*)$/.exec(arg.value)?.[2];
    if (args && typed && document.activeElement === arg) {
      const name = args.split(" ").map((a) => a.split("=")[0]).find((a) => a.startsWith(typed) && a !== typed);
      if (name) sig.append(" ", h("small", h("kbd", "Ctrl Space"), " " + name + "="));
    }
  }
  function suggest() {
    const typed = fun.value.trim().toLowerCase();
    const found = [...specs.keys()].filter((n) => n.toLowerCase().startsWith(typed)).concat(typed.length > 1 ? [...specs.keys()].filter((n) => n.toLowerCase().indexOf(typed) > 0) : []).slice(0, 40);
    at = -1;
    options.replaceChildren(...found.map((n, i) => h("li", { role: "option", id: "fn" + i, "aria-selected": "false", onpointerdown: (e) => { e.preventDefault(); choose(n); } }, h("code", n), " ", h("small", specs.get(n)))));
    show(found.length > 0 && !(found.length === 1 && found[0] === typed));
  }
  function show(on) {
    options.hidden = !on;
    fun.setAttribute("aria-expanded", String(on));
    if (!on) fun.removeAttribute("aria-activedescendant");
  }
  function choose(name) { fun.value = name; show(false); hint(); arg.focus(); }
  function move(step) {
    const all = options.children;
    if (!all.length) return;
    all[at]?.setAttribute("aria-selected", "false");
    at = (at + step + all.length) % all.length;
    all[at].setAttribute("aria-selected", "true");
    all[at].scrollIntoView({ block: "nearest" });
    fun.setAttribute("aria-activedescendant", all[at].id);
  }
  fun.addEventListener("focus", learn);
  fun.addEventListener("input", () => { hint(); suggest(); });
  fun.addEventListener("blur", () => show(false));
  fun.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { if (options.hidden) suggest(); else move(e.key === "ArrowDown" ? 1 : -1); e.preventDefault(); }
    else if (e.key === "Escape" && !options.hidden) { show(false); e.preventDefault(); }
    else if ((e.key === "Enter" || e.key === "Tab") && !options.hidden && at >= 0) { choose(options.children[at].querySelector("code").textContent); e.preventDefault(); }
  });
  arg.addEventListener("input", hint);
  arg.addEventListener("keydown", (e) => {
    if (e.key !== " " || !e.ctrlKey) return;
    const typed = /(^|\s)(\w*)$/.exec(arg.value)?.[2] ?? "";
    const name = (specs.get(fun.value.trim()) || "").split(" ").map((a) => a.split("=")[0]).find((a) => a && !a.startsWith("*") && a.startsWith(typed));
    if (name) { arg.value = arg.value.slice(0, arg.value.length - typed.length) + name + "="; e.preventDefault(); }
  });
  return h("section.card.run", { "aria-label": "Run a function" }, h("form", { onsubmit: async (e) => {
    e.preventDefault();
    go.disabled = true; error.textContent = "";
    try {
      const got = await api("POST", "run", { tgt: tgt.value.trim(), tgt_type: kind.value, fun: fun.value.trim(), arg: arg.value });
      if (got.jid) location.hash = "#/jobs/" + got.jid;
      else error.textContent = "No minion matches this target: nothing was run.";
    } catch (err) { error.textContent = err.message; }
    go.disabled = false;
  } }, field("Target", tgt), field("Type", kind), h("div.combo", field("Function", fun), options), field("Arguments", arg), go), sig, error);
}

// one shows a job: its way, the silent minions with reasons, and the returns of the others.
function one({ main, live, who }, jid) {
  const head = new Rows(), ways = new Rows(), why = new Rows(), output = new Rows();
  const tables = { job: head, ways, why, output };
  const note = h("p.note.bad", { hidden: true, role: "alert" });
  const notes = {};
  const title = h("h1", "Job"), facts = h("dl.facts");
  const silent = h("section", { hidden: true, "aria-label": "Silent minions" });
  const said = h("section", { "aria-label": "Output" });
  const steps = h("div.steps");
  const folds = new Map();
  const table = new Table("Timeline of each minion", [
    { label: "Minion", cls: "name", sort: (w) => w.minion, cell: (w) => w.minion },
    { label: "State", sort: (w) => w.state, cell: (w) => tag({ returned: "good", late: "warn", missing: "bad", open: "info" }[w.state] || "none", w.state || "sent") },
    { label: "Received", cls: "num", sort: (w) => time(w, "receive"), cell: (w) => hop(w, "receive") },
    { label: "Began", cls: "num", sort: (w) => time(w, "start"), cell: (w) => hop(w, "start") },
    { label: "Ended", cls: "num", sort: (w) => time(w, "end"), cell: (w) => hop(w, "end") },
    { label: "Arrived", cls: "num", sort: (w) => time(w, "arrive"), cell: (w) => hop(w, "arrive") },
    { label: "Timeline", cell: (w) => lane(w) },
  ]);
  const copy = copier(jid, "the job id");
  const time = (w, name) => w.hops?.find((s) => s.hop === name)?.after_us ?? Infinity;
  function hop(w, name) {
    const s = w.hops?.find((x) => x.hop === name);
    if (!s) return "";
    if (s.after_us === null) return s.state === "missing" ? h("small", "missing") : s.state === "open" ? h("small", "waiting") : "";
    return s.state === "late" ? tag("warn", span(s.after_us) + " late") : span(s.after_us);
  }
  let longest = 1, painted = 0;
  function lane(w) {
    const el = h("div.lane", { role: "img", "aria-label": (w.hops || []).filter((s) => s.after_us !== null).map((s) => s.hop + " after " + span(s.after_us)).join(", ") || "nothing yet" });
    const t = (n) => { const x = time(w, n); return isFinite(x) ? x : null; };
    const part = (cls, a, b) => {
      if (a === null || b === null || b < a) return;
      const i = h("i." + cls);
      i.style.left = (100 * a) / longest + "%"; i.style.width = Math.max(0.4, (100 * (b - a)) / longest) + "%";
      el.append(i);
    };
    const now = t("end") ?? (w.state === "returned" ? null : longest);
    part("way", 0, t("receive")); part("queue", t("receive"), t("start")); part("work", t("start"), now); part("back", t("end"), t("arrive"));
    return el;
  }
  function paint() {
    const j = head.map.get("job");
    if (j) {
      title.replaceChildren(h("code", j.fun + (j.arg ? " " + j.arg : "")));
      document.title = j.fun + " – brine";
      let failed = 0;
      for (const f of output.map.values()) if (f.retcode) failed += f.count;
      const state = j.minions < 0 ? tag("none", "not known") : h("span", tag(j.silent > 0 ? "info" : "good", j.returned + " of " + j.minions + " returned"), failed ? [" ", tag("bad", failed + " failed")] : "");
      const held = document.activeElement === copy;
      facts.replaceChildren(...[["State", state], ["Target", h("span", h("code", j.tgt), " ", h("small", j.tgt_type))], ["User", j.user], ["Began", j.began ? ago(new Date(j.began / 1000).toISOString()) : ago(jidTime(jid))], ["Job id", h("span", h("code", jid), " ", copy)]].flatMap(([k, v]) => [h("dt", k), h("dd", v)]));
      if (held) copy.focus();
    }
    let far = 1;
    for (const w of ways.map.values()) for (const s of w.hops || []) if (s.after_us > far) far = s.after_us;
    const again = Math.abs(far - longest) > longest * 0.02;
    longest = far;
    const own = ways.map.get("");
    steps.replaceChildren(...(own?.hops || []).filter((s) => s.after_us !== null).map((s) => h("span", h("small", s.hop), " ", s.state === "late" ? tag("warn", span(s.after_us) + " late") : span(s.after_us))));
    table.set([...ways.map].filter(([k]) => k).map(([key, row]) => ({ key, row: again ? { ...row } : row })), "No minion has it yet.");
    const reasons = [...why.map.values()].sort((a, b) => (a.minion < b.minion ? -1 : 1));
    silent.hidden = !reasons.length;
    silent.replaceChildren(h("h2", reasons.length + (reasons.length === 1 ? " minion has not returned" : " minions have not returned")),
      h("div.card", h("table.cards", h("caption.hidden", "Reasons of silence"), h("thead", h("tr", h("th", { scope: "col" }, "Minion"), h("th", { scope: "col" }, "Reason"))),
        h("tbody", reasons.slice(0, 200).map((r) => h("tr", h("td.name", { "data-label": "Minion", title: r.minion }, r.minion), h("td", { "data-label": "Reason" }, h("span", r.text, " ", h("small", "[" + r.code + "]"))))))), reasons.length > 200 ? h("div.more", reasons.length - 200 + " more") : ""));
    if (painted !== output.seen) { painted = output.seen; outputs(); }
  }
  function outputs() {
    const list = [...output.map].sort(([, a], [, b]) => b.count - a.count || (a.minions[0] < b.minions[0] ? -1 : 1));
    for (const k of folds.keys()) if (!output.map.has(k)) folds.delete(k);
    said.replaceChildren(h("h2", "Output" + (list.length > 1 ? ", " + list.length + " different" : "")), ...list.map(([key, f]) => {
      const had = folds.get(key);
      if (had?.row === f) return had.el;
      const ids = f.count === 1 ? [h("strong", f.minions[0])] : [h("details", h("summary", h("strong", f.count + " minions"), " returned the same"), h("span.mono", f.minions.join(", ") + (f.count > f.minions.length ? ", …" : "")))];
      const el = h("div.card.fold", h("div.ids", ids, f.retcode ? tag("bad", "return code " + f.retcode) : ""), h("pre", { tabindex: 0, role: "region", "aria-label": "Output of " + f.minions[0] }, f.lines.flatMap((l, i) => [i ? "\n" : "", ...l.map((s) => (s.c ? h("span." + s.c.split(" ").map((c) => "c-" + c).join("."), s.t) : s.t))])), f.cut ? h("div.more", "It is too long to be shown whole: salt-run jobs.lookup_jid " + jid) : "");
      folds.set(key, { row: f, el });
      return el;
    }));
    if (!list.length) said.append(h("p.dim.waits", output.seen ? "Nothing has come back yet." : "Loading …"));
  }
  live.open({ view: "job", jid }, {
    rows: (p) => {
      const t = tables[p.table];
      if (!t) return;
      t.patch(p); t.seen = (t.seen || 0) + 1;
      delete notes[p.table];
      requestAnimationFrame(paint);
    },
    note: (n) => {
      notes[n.table] = n.text;
      note.textContent = Object.values(notes).filter(Boolean).join(" ");
      note.hidden = !note.textContent;
    },
  });
  const key = (cls, t) => h("span.key", h("i." + cls), t);
  outputs();
  main.append(...[h("div.bar", h("a", { href: "#/jobs" }, "← Jobs"), title), note, facts, silent, said, who.brine ? [h("h2", "Steps on the master"), steps, h("h2", "Timeline of each minion"),
    h("p", key("way", "on its way"), key("queue", "waiting"), key("work", "running"), key("back", "returning")), table.el] : h("p.note", "Only a brine master knows the timeline of a job and why a minion has not returned.")].flat());
  return { close: () => table.close(), first: () => table.first() };
}
