import { effect, signal, untracked } from '@preact/signals';
import { Problem } from './problem.ts';
import { callOf } from './rows.ts';

/** True while the service does not answer; the page says so in a line of its own. */
export const offline = signal(false);

/** False while the browser says that this device is offline. */
export const hasNetwork = signal(navigator.onLine);
for (const change of ['online', 'offline'])
  addEventListener(change, () => {
    hasNetwork.value = navigator.onLine;
  });

/** How often it is looked whether the service answers again. */
const lookMs = 3000;

const bodyOf = async (response: Response): Promise<Record<string, unknown>> => {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** What stands before the service says so when it cannot reach it; the service itself names a code. */
const isOfService = (status: number, { code }: Readonly<Record<string, unknown>>): boolean =>
  status < 502 || typeof code === 'string';

const etags = new WeakMap<object, string>();

/** The revision of what an answer's `data` shows, as `If-Match` takes it. */
export const etagOf = (data: object): string | undefined => etags.get(data);

const keepEtag = ({ data }: Readonly<Record<string, unknown>>, etag: string | null): void => {
  if (etag !== null && typeof data === 'object' && data !== null) etags.set(data, etag);
};

/** Sends a request; the body of a success, else a `Problem`: of status 0 where nobody answers. */
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

/** Looks for the service as long as it does not answer. */
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

/** Does something once, as soon as the service answers; answers how to do without. */
export const onceBack = (act: () => void): (() => void) => {
  let isDone = false;
  return effect(() => {
    if (offline.value || isDone) return;
    isDone = true;
    untracked(act);
  });
};
