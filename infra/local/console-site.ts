import type { ServerResponse } from 'node:http';
import type { ConsoleFile } from '../build/console.ts';

/** Answers a GET that is not for the API; `false` where the site has nothing at this path. */
export type ServeSite = (path: string, accept: string, response: ServerResponse) => boolean;

export interface SiteAddresses {
  /** The public API. */
  readonly api: string;
  /** Where files are uploaded to and read from. */
  readonly files: readonly string[];
}

const policyOf = ({ files }: SiteAddresses): string => {
  const places = files.join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' data: blob: ${places}`,
    `connect-src 'self' ${places}`,
    "frame-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; ');
};

const send = (response: ServerResponse, { type, bytes, immutable }: ConsoleFile, policy: string): void => {
  response
    .writeHead(200, {
      'content-type': type,
      'content-length': bytes.length,
      'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    .end(bytes);
};

const fail = (response: ServerResponse, error: unknown): void => {
  response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`The console could not be built.\n\n${error instanceof Error ? error.message : String(error)}\n`);
};

/** The console as `npm start` serves it beside the dashboard API; built when the first page is asked for. */
interface Site {
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly policy: string;
}

export const consoleSite = (known: Promise<SiteAddresses>): ServeSite => {
  const build = async (): Promise<Site> => {
    const addresses = await known;
    const { buildConsole } = await import('../build/console.ts');
    const service = { path: '/console.json', type: 'application/json', immutable: false };
    const files = [
      ...(await buildConsole()),
      { ...service, bytes: Buffer.from(JSON.stringify({ api: addresses.api })) },
    ];
    return { files: new Map(files.map((file) => [file.path, file])), policy: policyOf(addresses) };
  };
  let site: Promise<Site> | undefined;
  return (path, accept, response) => {
    if (path === '/api' || path.startsWith('/api/')) return false;
    const isPage = accept.includes('text/html');
    if (!isPage && !/^\/(?:assets\/[\w.-]+|icon\.svg|console\.json)$/.test(path)) return false;
    site ??= build();
    site.then(
      ({ files, policy }) => {
        const file = files.get(path) ?? (isPage ? files.get('/index.html') : undefined);
        if (file) send(response, file, policy);
        else response.writeHead(404).end();
      },
      (error: unknown) => {
        site = undefined;
        fail(response, error);
      },
    );
    return true;
  };
};
