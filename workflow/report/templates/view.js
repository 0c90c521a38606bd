// The view is what the address says behind #, as KEY=VALUE&...: copying the address copies it, back and forward work. An
// anchor without "=" leads to a place on the page, and the view stays.
const CARRIED = ["baseline", "variant"]; // what a link to another page takes along; the rest concerns one page alone
const view = (() => {
  let now = new URLSearchParams();
  const followers = [];
  const read = () => {
    const text = location.hash.slice(1);
    if (text.includes("=") || !text) now = new URLSearchParams(text);
    else if (String(now)) now.set("at", text), history.replaceState(null, "", `#${now}`);
    followers.forEach((follower) => follower());
  };
  read();
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
  return {
    get: (key) => now.get(key) ?? "",
    all: () => Object.fromEntries(now),
    // step: whether "back" undoes this change alone; what is typed is no step for each letter.
    set(changes, step = true) {
      for (const [key, value] of Object.entries(changes)) value === null ? now.delete(key) : now.set(key, value);
      now.delete("at");
      history[step ? "pushState" : "replaceState"](null, "", String(now) ? `#${now}` : location.pathname + location.search);
      followers.forEach((follower) => follower());
    },
    // Write the address of another page of the reports with what the reader chose; a choice that it names itself wins.
    carry(address) {
      const [place, hash = ""] = address.split("#"), chosen = CARRIED.filter((key) => now.has(key));
      if (!chosen.length || !/\.html$/.test(place) || /^[a-z]+:/i.test(place)) return address;
      const then = new URLSearchParams(hash.includes("=") ? hash : hash && { at: hash });
      for (const key of chosen) if (!then.has(key)) then.set(key, now.get(key));
      return `${place}#${then}`;
    },
    // Call a function now, and whenever the view changes.
    follow: (follower) => (followers.push(follower), follower()),
    // Once all is drawn: go where the address leads.
    arrive: () => document.getElementById(now.get("at"))?.scrollIntoView(),
  };
})();

// Links keep the reader's view: a click, a middle click and "copy link address" alike.
for (const event of ["click", "auxclick", "contextmenu"]) {
  addEventListener(event, ({ target }) => {
    const link = target.closest?.("a[href]");
    if (link) link.setAttribute("href", view.carry(link.getAttribute("href")));
  }, true);
}
