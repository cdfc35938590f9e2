import type { ApiExample } from 'basalt:api';

export const languages = ['curl', 'javascript', 'python'] as const;
export type Language = (typeof languages)[number];

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/** The project's own names, which stand in the examples. */
export interface Names {
  readonly api: string;
  readonly collectionName: string;
  readonly publishableKey: string;
}

/** What is known to nobody but who has kept it: its place is named. */
const places = { secretKey: 'SECRET_KEY', userToken: 'ACCESS_TOKEN' } as const;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The address that it is called at. */
export const urlOf = ({ path, params, query }: ApiExample, { api, collectionName }: Names): string => {
  const values: Readonly<Record<string, string>> = {
    ...params,
    ...('collectionName' in params ? { collectionName } : {}),
  };
  const search = new URLSearchParams(query);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name));
  return `${api}${filled}${search.size === 0 ? '' : `?${search}`}`;
};

interface Credentials {
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly userToken: string;
}

/** The headers that it is called with. */
export const headersOf = (
  { access, body }: ApiExample,
  { publishableKey, secretKey, userToken }: Credentials,
): Record<string, string> => ({
  ...(access === 'public' ? {} : { 'x-api-key': access === 'secretKey' ? secretKey : publishableKey }),
  ...(access === 'user' || (access === 'anyKey' && userToken) ? { authorization: `Bearer ${userToken}` } : {}),
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

/** A request as it is written in a language, with the project's own address, key and collection. */
export const codeOf = (language: Language, example: ApiExample, names: Names): string =>
  writers[language](
    example,
    urlOf(example, names),
    headersOf(example, { ...names, ...places, ...(example.access === 'user' ? {} : { userToken: '' }) }),
  );
