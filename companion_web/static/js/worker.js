// Keeps the page's own files, so that the installed page opens while the table is off and says so itself.

const KEPT = "nilometer-3";
const kept = path => path === "/" || path.startsWith("/static/") || path.startsWith("/locale/") || path === "/api/plan";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", e => e.waitUntil(caches.keys()
  .then(names => Promise.all(names.filter(n => n !== KEPT).map(n => caches.delete(n)))).then(() => self.clients.claim())));

self.addEventListener("fetch", e => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin || !kept(url.pathname)) return;
  e.respondWith(fetch(e.request).then(answer => {
    if (answer.ok) {
      const copy = answer.clone();
      e.waitUntil(caches.open(KEPT).then(cache => cache.put(e.request, copy)));
    }
    return answer;
  }).catch(() => caches.match(e.request, { ignoreVary: true }).then(found => found ?? Response.error())));
});
