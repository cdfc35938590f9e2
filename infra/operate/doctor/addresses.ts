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
  if (parts.length === 0) return failed(`returned ${response.status} ${message}`, 'See the log of its functions.');
  return failed(parts.join(', '), 'See the log of get-health, then check the network and the secret of that part.');
};

const foreignOrigin = 'https://basalt-doctor.example';

/** The `Access-Control-Allow-Origin` that a preflight from this origin gets. */
const allowedFor = async (url: string, origin: string): Promise<string | undefined> => {
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  const response = await get(`${url}/api/health`, { method: 'OPTIONS', headers });
  return response.headers.get('access-control-allow-origin') ?? undefined;
};

const publicCors = async (target: Target): Promise<Outcome> =>
  (await allowedFor(setting(target, 'PUBLIC_URL'), foreignOrigin)) === foreignOrigin
    ? ok('any web page can call it')
    : failed(
        'web pages cannot call it',
        'Deploy the public API again. A proxy in front of it must forward preflight requests.',
      );

const dashboardCors = async (target: Target): Promise<Outcome> => {
  const url = setting(target, 'DASHBOARD_API_URL');
  if ((await allowedFor(url, foreignOrigin)) !== undefined) {
    return failed('any web page can call it', 'List only your own pages in dashboardOrigins.');
  }
  const page = target.environment.DASHBOARD_URL;
  if (!page) return ok('other web pages cannot call it');
  const { origin } = new URL(page);
  if (origin === new URL(url).origin) return ok('other web pages cannot call it');
  return (await allowedFor(url, origin)) === origin
    ? ok(`${origin} can call it, other web pages cannot`)
    : warning(`${origin} cannot call it`, `Add ${origin} to dashboardOrigins.`);
};

const consolePages = async (target: Target): Promise<Outcome> => {
  // The console's own origin is the first one.
  const [url = ''] = setting(target, 'DASHBOARD_ORIGINS').split(',');
  const page = await get(url, { headers: { accept: 'text/html' } });
  const text = await page.text();
  if (page.status !== 200 || !text.includes('<title>Basalt</title>')) {
    return failed(`${url} returned ${page.status} instead of the console`, 'Deploy again: npm run deploy');
  }
  const { api } = (await (await get(`${url}/console.json`)).json()) as { readonly api?: string };
  return api === setting(target, 'PUBLIC_URL')
    ? ok(`${url} serves the console`)
    : failed(`the console uses ${api} as the public API`, 'Deploy again: npm run deploy');
};

const files = async (target: Target): Promise<Outcome> => {
  const url = setting(target, 'FILES_URL');
  const response = await get(`${url}/${'0'.repeat(24)}/basalt-doctor`);
  await response.arrayBuffer();
  if (response.status === 404) return ok(`${url} serves the public files`);
  return failed(
    `${url} returned ${response.status} for a file that does not exist`,
    'Check the distribution and its permission to read the bucket. Without CloudFront, see the log of serve-file.',
  );
};

export const addressChecks: readonly Check[] = [
  { name: 'public API', run: (target) => health(setting(target, 'PUBLIC_URL')) },
  { name: 'dashboard API', run: (target) => health(setting(target, 'DASHBOARD_API_URL')) },
  { name: 'CORS of the public API', run: publicCors },
  { name: 'CORS of the dashboard API', run: dashboardCors },
  { name: 'console', run: consolePages },
  { name: 'public files', run: files },
];
