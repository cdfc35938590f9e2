import { styleText } from 'node:util';
import type { LocalSettings } from './settings.ts';
import type { DevFile } from './state-files.ts';

const quote = (text: string): string => `'${text}'`;

const curl = (url: string, key: string, body?: unknown): string =>
  [
    `  curl ${quote(url)}`,
    `-H ${quote(`x-api-key: ${key}`)}`,
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
  ].join(' ');

/** Commands to paste: insert, list, filter, and insert into a collection without a schema. */
const examples = ({ baseUrl, publishableKey, secretKey }: DevFile): readonly string[] => {
  const posts = `${baseUrl}/api/data/posts`;
  return [
    curl(posts, secretKey, { title: 'Hello', views: 10, tags: ['first'], meta: { source: 'curl' } }),
    curl(`${posts}?limit=5`, publishableKey),
    curl(`${posts}?views_gte=5&tags=first&sort=-views`, publishableKey),
    curl(`${baseUrl}/api/data/notes`, secretKey, { anything: { goes: true } }),
  ];
};

const line = (name: string, value: string): string => `  ${styleText('dim', name.padEnd(16))} ${value}`;

const rateLimitText = ({ functions: { RATE_LIMIT = '0' } }: LocalSettings): string =>
  RATE_LIMIT === '0' ? 'off' : `${RATE_LIMIT} requests per 15 minutes (100 in a deployment)`;

/** The text that a start prints when everything runs. Scripts wait for its last line. */
export const welcome = (dev: DevFile, settings: LocalSettings, directory: string, consoleUrl: string): string =>
  [
    '',
    line('public API', dev.baseUrl),
    line('dashboard API', dev.dashboardUrl),
    line('public files', dev.filesUrl),
    line('sent emails', dev.inboxUrl),
    line('email webhook', dev.webhookUrl),
    line('rate limit', rateLimitText(settings)),
    '',
    line('demo developer', `${dev.developer.email}  ${dev.developer.password}`),
    line('demo project', dev.projectId),
    line('publishable key', dev.publishableKey),
    line('secret key', dev.secretKey),
    line(
      'all values',
      `${directory}/dev.json, also with a dashboard token for 12 h; for shells: . ${directory}/env.sh`,
    ),
    '',
    '  Try it: insert, list and filter documents, then insert one without a schema',
    ...examples(dev),
    '',
    line('console', styleText('bold', consoleUrl)),
    line('', 'signs you in; works one time, within 10 minutes'),
    line('', 'for passkeys, open it with localhost instead of 127.0.0.1'),
    '',
    ...(dev.exampleUrl === undefined
      ? []
      : [line('example app', styleText('bold', dev.exampleUrl)), line('', 'examples/board, with its own project'), '']),
    `ready ${dev.baseUrl}`,
    '',
  ].join('\n');
