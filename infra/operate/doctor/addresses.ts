import { type Check, failed, type Outcome, ok, setting, type Target, warning } from './check.ts';

const answerMs = 10_000;

const get = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs), ...init });

interface Health {
  readonly message?: string;
  readonly data?: { readonly parts?: Readonly<Record<string, { readonly ok: boolean; readonly ms: number }>> };
}

const health = async (url: string): Promise<Outcome> => {
  const response = await get(`${url}/api/health`);
  const { data, message = '' } = (await response.json()) as Health;
  const parts = Object.entries(data?.parts ?? {}).map(
    ([name, { ok: well, ms }]) => `${name} ${well ? `${ms} ms` : 'FAILED'}`,
  );
  if (response.status === 200) return ok(parts.join(', '));
  if (parts.length === 0) return failed(`answers ${response.status} ${message}`, 'See the log of its functions.');
  return failed(parts.join(', '), 'See the log of get-health for why, and the network and the secret of that part.');
};

const stranger = 'https://basalt-doctor.example';

/** What a preflight from an origin is allowed, `undefined` where nothing is. */
const allowedFor = async (url: string, origin: string): Promise<string | undefined> => {
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  const response = await get(`${url}/api/health`, { method: 'OPTIONS', headers });
  return response.headers.get('access-control-allow-origin') ?? undefined;
};

const publicCors = async (target: Target): Promise<Outcome> =>
  (await allowedFor(setting(target, 'PUBLIC_URL'), stranger)) === stranger
    ? ok('every web page may call the public API')
    : failed(
        'web pages cannot call the public API',
        'Deploy the public API again; a proxy before it must pass preflights on.',
      );

const dashboardCors = async (target: Target): Promise<Outcome> => {
  const url = setting(target, 'DASHBOARD_API_URL');
  if ((await allowedFor(url, stranger)) !== undefined) {
    return failed('any web page may call the dashboard API', 'Name its own pages alone as dashboardOrigins.');
  }
  const page = target.environment.DASHBOARD_URL;
  if (!page) return ok('no foreign page may call the dashboard API');
  const { origin } = new URL(page);
  if (origin === new URL(url).origin) return ok('no foreign page may call the dashboard API');
  return (await allowedFor(url, origin)) === origin
    ? ok(`${origin} may call the dashboard API, no foreign page may`)
    : warning(`${origin} may not call the dashboard API`, `Add ${origin} to dashboardOrigins.`);
};

const consolePages = async (target: Target): Promise<Outcome> => {
  // Its own origin comes before those of other pages.
  const [url = ''] = setting(target, 'DASHBOARD_ORIGINS').split(',');
  const page = await get(url, { headers: { accept: 'text/html' } });
  const text = await page.text();
  if (page.status !== 200 || !text.includes('<title>Basalt</title>')) {
    return failed(`${url} answers ${page.status} and not its page`, 'Deploy again with: npm run deploy');
  }
  const { api } = (await (await get(`${url}/console.json`)).json()) as { readonly api?: string };
  return api === setting(target, 'PUBLIC_URL')
    ? ok(`${url} serves the console`)
    : failed(`the console asks ${api} for the public API`, 'Deploy again with: npm run deploy');
};

const files = async (target: Target): Promise<Outcome> => {
  const url = setting(target, 'FILES_URL');
  const response = await get(`${url}/${'0'.repeat(24)}/basalt-doctor`);
  await response.arrayBuffer();
  if (response.status === 404) return ok(`${url} serves the public files`);
  return failed(
    `${url} answers ${response.status} for a file that is not there`,
    'See the distribution and its right to read the bucket or, without CloudFront, the log of serve-file.',
  );
};

/** What callers see. */
export const addressChecks: readonly Check[] = [
  { name: 'public API', run: (target) => health(setting(target, 'PUBLIC_URL')) },
  { name: 'dashboard API', run: (target) => health(setting(target, 'DASHBOARD_API_URL')) },
  { name: 'CORS of the public API', run: publicCors },
  { name: 'CORS of the dashboard API', run: dashboardCors },
  { name: 'console', run: consolePages },
  { name: 'public files', run: files },
];
