// The view is what the address says behind #, as KEY=VALUE&...: copying the address copies it, back and forward work. An
// anchor without "=" leads to a place on the page, and the view stays.
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
    // Call a function now, and whenever the view changes.
    follow: (follower) => (followers.push(follower), follower()),
    // Once all is drawn: go where the address leads.
    arrive: () => document.getElementById(now.get("at"))?.scrollIntoView(),
  };
})();
