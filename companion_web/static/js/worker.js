// @ts-check
// Keeps the page's own files, so that the installed page opens while the table is off and says so itself.

const KEPT = "nilometer-5";
const PLAN = "/api/plan";      // all that is kept of /api
const PAGES = ["/", "/join", "/setup", "/games", "/tv"];
const kept = path => PAGES.includes(path) || path.startsWith("/static/") || path.startsWith("/locale/") || [PLAN, "/manifest.webmanifest"].includes(path);

const put = async (cache, request, answer) => { if (answer.ok && !answer.redirected) await cache.put(request, answer); };

// All of it at once: a phone that has opened one page has every page. What is not there now (a set-up that is over) is left out.
async function fetchAll() {
  const cache = await caches.open(KEPT), answer = await fetch("/assets.json");
  const paths = answer.ok ? await answer.json() : [];
  await Promise.allSettled([...PAGES, PLAN, ...paths].map(async path => put(cache, path, await fetch(path))));
}

/** @type {any} TypeScript knows a page or a worker, not both */
const worker = self;
// What is not kept goes past this worker, which may be slow to start, where the browser can be told so.
const ROUTES = [
  { condition: { urlPattern: PLAN, requestMethod: "get" }, source: "fetch-event" },
  { condition: { urlPattern: "/api/*" }, source: "network" },
];

worker.addEventListener("install", e => { worker.skipWaiting(); e.addRoutes?.(ROUTES).catch(() => {}); e.waitUntil(fetchAll().catch(() => {})); });
worker.addEventListener("activate", e => e.waitUntil(caches.keys()
  .then(names => Promise.all(names.filter(n => n !== KEPT).map(n => caches.delete(n)))).then(() => worker.clients.claim())));

worker.addEventListener("fetch", e => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== location.origin || !kept(url.pathname)) return;
  e.respondWith(fetch(e.request).then(answer => {
    const copy = answer.clone();
    e.waitUntil(caches.open(KEPT).then(cache => put(cache, e.request, copy)));
    return answer;
  }).catch(() => caches.match(e.request, { ignoreVary: true }).then(found => found ?? Response.error())));
});
