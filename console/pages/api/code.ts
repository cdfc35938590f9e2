import type { ApiExample } from 'basalt:api';
import type { SampledCollection } from './sample.ts';

export const languages = ['curl', 'javascript', 'python'] as const;
export type Language = (typeof languages)[number];

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/** The project's own names and data, shown in the examples. */
export interface Names {
  readonly api: string;
  readonly publishableKey: string;
  readonly projectId: string;
  readonly collection: SampledCollection;
  /** The path of the newest file, if there is one. */
  readonly filePath: string | undefined;
  readonly userUploads: boolean;
}

/** Placeholders for secrets that the console does not know. */
const places = { secretKey: 'SECRET_KEY', userToken: 'ACCESS_TOKEN', refreshToken: 'REFRESH_TOKEN' } as const;

/** The parts of an example that its code contains. */
type Sent = Pick<ApiExample, 'method' | 'path' | 'params' | 'query' | 'body'> &
  Partial<Pick<ApiExample, 'headers' | 'returns'>>;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const urlOf = ({ path, params, query }: Sent, { api }: Pick<Names, 'api'>): string => {
  const values: Readonly<Record<string, string>> = params;
  const search = new URLSearchParams(query);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name));
  return `${api}${filled}${search.size === 0 ? '' : `?${search}`}`;
};

interface Credentials {
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly userToken: string;
  readonly refreshToken: string;
}

const refreshHeader = 'x-refresh-token';

export const takesRefreshToken = ({ headers = {} }: Sent): boolean => refreshHeader in headers;

export type Way = 'public' | 'publishable' | 'user' | 'secret';

export const headersOf = (
  example: Sent,
  way: Way,
  { publishableKey, secretKey, userToken, refreshToken }: Credentials,
): Record<string, string> => ({
  ...example.headers,
  ...(takesRefreshToken(example) && { [refreshHeader]: refreshToken }),
  ...(way === 'public' ? {} : { 'x-api-key': way === 'secret' ? secretKey : publishableKey }),
  ...(way === 'user' ? { authorization: `Bearer ${userToken}` } : {}),
  ...(example.body === undefined ? {} : { 'content-type': 'application/json' }),
});

const curl = (example: Sent, url: string, headers: Readonly<Record<string, string>>): string =>
  [
    `curl ${example.returns === 'redirect' ? '-i ' : ''}${example.method === 'GET' || (example.method === 'POST' && example.body !== undefined) ? '' : `-X ${example.method} `}${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(example.body === undefined ? [] : [`  -d ${quoted(JSON.stringify(example.body))}`]),
  ].join(' \\\n');

/** What is printed after the status. */
const printed = {
  javascript: {
    json: 'await response.json()',
    text: 'await response.text()',
    redirect: "response.headers.get('location') ?? (await response.text())",
  },
  python: {
    json: 'response.json()',
    text: 'response.text',
    redirect: "response.headers.get('location') or response.text",
  },
} as const;

const javascript = (
  { method, body, returns = 'json' }: Sent,
  url: string,
  headers: Readonly<Record<string, string>>,
): string =>
  [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    `  headers: ${JSON.stringify(headers)},`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
    ...(returns === 'redirect' ? ["  redirect: 'manual',"] : []),
    '});',
    `console.log(response.status, ${printed.javascript[returns]});`,
  ].join('\n');

const pythonValue = (value: unknown): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([key, one]) => `${JSON.stringify(key)}: ${pythonValue(one)}`)
    .join(', ')}}`;
};

const python = (
  { method, body, returns = 'json' }: Sent,
  url: string,
  headers: Readonly<Record<string, string>>,
): string =>
  [
    '# pip install requests',
    'import requests',
    '',
    'response = requests.request(',
    `    '${method}', ${JSON.stringify(url)},`,
    `    headers=${JSON.stringify(headers)},`,
    ...(body === undefined ? [] : [`    json=${pythonValue(body)},`]),
    ...(returns === 'redirect' ? ['    allow_redirects=False,'] : []),
    ')',
    `print(response.status_code, ${printed.python[returns]})`,
  ].join('\n');

const writers = { curl, javascript, python } as const;

/** A request as code in a language, with the project's own address and key. */
export const codeOf = (
  language: Language,
  example: Sent,
  place: Pick<Names, 'api' | 'publishableKey'>,
  way: Way,
): string => writers[language](example, urlOf(example, place), headersOf(example, way, { ...place, ...places }));
