import { effect, signal, untracked } from '@preact/signals';
import { Problem } from './problem.ts';
import { callOf } from './rows.ts';

/** True while the service does not answer. The page then shows a line that says so. */
export const offline = signal(false);

/** False while the browser reports that this device is offline. */
export const hasNetwork = signal(navigator.onLine);
for (const change of ['online', 'offline'])
  addEventListener(change, () => {
    hasNetwork.value = navigator.onLine;
  });

/** How often the console checks whether the service answers again. */
const lookMs = 3000;

const bodyOf = async (response: Response): Promise<Record<string, unknown>> => {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** A proxy may answer in the service's place; only the service's own errors have a code. */
const isOfService = (status: number, { code }: Readonly<Record<string, unknown>>): boolean =>
  status < 502 || typeof code === 'string';

const etags = new WeakMap<object, string>();

/** The revision of an answer's `data`, for `If-Match`. */
export const etagOf = (data: object): string | undefined => etags.get(data);

const keepEtag = ({ data }: Readonly<Record<string, unknown>>, etag: string | null): void => {
  if (etag !== null && typeof data === 'object' && data !== null) etags.set(data, etag);
};

/**
 * Sends a request and returns the body of a success. Throws a `Problem` otherwise, with status 0 if there is no
 * answer.
 */
export const ask = async (url: string, init: RequestInit): Promise<Record<string, unknown>> => {
  let response: Response | undefined;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
  }
  const body = response ? await bodyOf(response) : {};
  if (!response || !isOfService(response.status, body)) {
    offline.value = true;
    throw new Problem(0, {});
  }
  offline.value = false;
  keepEtag(body, response.headers.get('etag'));
  if (response.ok) return body;
  throw new Problem(response.status, body, Number(response.headers.get('retry-after')) || undefined);
};

/** Checks for the service as long as it does not answer. */
effect(() => {
  if (!offline.value) return undefined;
  const { method, path } = callOf('get-dashboard-health', {});
  const look = () => void ask(path, { method }).catch(() => undefined);
  const timer = setInterval(look, lookMs);
  addEventListener('online', look);
  return () => {
    clearInterval(timer);
    removeEventListener('online', look);
  };
});

/** Calls `act` once, as soon as the service answers. Returns a function that cancels this. */
export const onceBack = (act: () => void): (() => void) => {
  let isDone = false;
  return effect(() => {
    if (offline.value || isDone) return;
    isDone = true;
    untracked(act);
  });
};
