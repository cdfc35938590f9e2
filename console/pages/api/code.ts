import type { ApiExample } from 'basalt:api';
import type { SampledCollection } from './sample.ts';

export const languages = ['curl', 'javascript', 'python'] as const;
export type Language = (typeof languages)[number];

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/** The project's own names and data, shown in the examples. */
export interface Names {
  readonly api: string;
  readonly publishableKey: string;
  readonly collection: SampledCollection;
  readonly userUploads: boolean;
}

/** Placeholders for secrets that the console does not know. */
const places = { secretKey: 'SECRET_KEY', userToken: 'ACCESS_TOKEN' } as const;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const urlOf = ({ path, params, query }: ApiExample, { api }: Pick<Names, 'api'>): string => {
  const values: Readonly<Record<string, string>> = params;
  const search = new URLSearchParams(query);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name));
  return `${api}${filled}${search.size === 0 ? '' : `?${search}`}`;
};

interface Credentials {
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly userToken: string;
}

export type Way = 'public' | 'publishable' | 'user' | 'secret';

/** Routes that read documents by POST. */
const readsByPost = new Set(['query-documents', 'aggregate-documents']);

/**
 * The least privileged key that a call works with. A publishable key writes documents only with row security and a
 * signed-in user. It reads private ones only for their owner.
 */
export const wayOf = (
  { id, area, access, method }: ApiExample,
  { collection: { rls }, userUploads }: Pick<Names, 'collection' | 'userUploads'>,
): Way => {
  if (access === 'public' || access === 'user') return access;
  if (access === 'secretKey') return 'secret';
  if (area === 'storage' && access === 'anyKey') return userUploads ? 'user' : 'secret';
  if (area !== 'data' && area !== 'realtime') return 'publishable';
  const isRead = method === 'GET' || readsByPost.has(id) || area === 'realtime';
  if (isRead) return rls.enabled && (rls.mode === 'private' || rls.requires === 'mfa') ? 'user' : 'publishable';
  return rls.enabled ? 'user' : 'secret';
};

export const headersOf = (
  { body }: ApiExample,
  way: Way,
  { publishableKey, secretKey, userToken }: Credentials,
): Record<string, string> => ({
  ...(way === 'public' ? {} : { 'x-api-key': way === 'secret' ? secretKey : publishableKey }),
  ...(way === 'user' ? { authorization: `Bearer ${userToken}` } : {}),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
});

const curl = (example: ApiExample, url: string, headers: Readonly<Record<string, string>>): string =>
  [
    `curl ${example.method === 'GET' || (example.method === 'POST' && example.body !== undefined) ? '' : `-X ${example.method} `}${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(example.body === undefined ? [] : [`  -d ${quoted(JSON.stringify(example.body))}`]),
  ].join(' \\\n');

const javascript = ({ method, body }: ApiExample, url: string, headers: Readonly<Record<string, string>>): string =>
  [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    `  headers: ${JSON.stringify(headers)},`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');

const pythonValue = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(
      /(?<=[:[,] )(?:true|false|null)(?=[ ,])/g,
      (word) => ({ true: 'True', false: 'False', null: 'None' })[word] ?? word,
    );

const python = ({ method, body }: ApiExample, url: string, headers: Readonly<Record<string, string>>): string =>
  [
    '# pip install requests',
    'import requests',
    '',
    'response = requests.request(',
    `    '${method}', ${JSON.stringify(url)},`,
    `    headers=${JSON.stringify(headers)},`,
    ...(body === undefined ? [] : [`    json=${pythonValue(body)},`]),
    ')',
    'print(response.status_code, response.json())',
  ].join('\n');

const writers = { curl, javascript, python } as const;

/** A request as code in a language, with the project's own address and key. */
export const codeOf = (
  language: Language,
  example: ApiExample,
  place: Pick<Names, 'api' | 'publishableKey'>,
  way: Way,
): string => writers[language](example, urlOf(example, place), headersOf(example, way, { ...place, ...places }));
