/**
 * Keeps the page and the published configuration, so that both open without a connection.
 * It never sees an answer, and never touches a report: what is posted goes past it.
 */

const KEPT = "deniable {{version}}";
const FILES = [/* files */];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((kept) => kept.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const forget = async () => {
    for (const key of await caches.keys()) if (key !== KEPT) await caches.delete(key);
    await self.clients.claim();
  };
  event.waitUntil(forget());
});

self.addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.method !== "GET") return;
  if (/^\/(static|v1\/designs|v1\/blocks)\//.test(pathname)) event.respondWith(keptFirst(event.request));
  else if (/^\/s\/|^\/v1\/surveys\/[^/]+\/page$/.test(pathname)) event.respondWith(networkFirst(event.request));
});

async function keptFirst(request) {
  return (await caches.match(request)) ?? keep(request, await fetch(request));
}

async function networkFirst(request) {
  try {
    return await keep(request, await fetch(request));
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

async function keep(request, response) {
  if (response.ok) await (await caches.open(KEPT)).put(request, response.clone());
  return response;
}
