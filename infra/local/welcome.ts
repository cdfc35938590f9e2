import { styleText } from 'node:util';
import type { DevFile } from './dev-file.ts';
import type { LocalSettings } from './settings.ts';

const quote = (text: string): string => `'${text}'`;

const curl = (url: string, key: string, body?: unknown): string =>
  [
    `curl ${quote(url)}`,
    `-H ${quote(`x-api-key: ${key}`)}`,
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
  ].join(' ');

/** Four lines to paste: write, read, filter, and a collection without a schema. */
const examples = ({ baseUrl, publishableKey, secretKey }: DevFile): readonly string[] => {
  const posts = `${baseUrl}/api/data/posts`;
  return [
    curl(posts, secretKey, { title: 'Hello', views: 10, tags: ['first'], meta: { source: 'curl' } }),
    curl(`${posts}?limit=5`, publishableKey),
    curl(`${posts}?views_gte=5&tags=first&sort=-views`, publishableKey),
    curl(`${baseUrl}/api/data/notes`, secretKey, { anything: { goes: true } }),
  ];
};

const row = (name: string, value: string): string => `  ${styleText('dim', name.padEnd(16))} ${value}`;

/** What a start shows once everything is up; ends with the line that scripts wait for. */
export const welcome = (dev: DevFile, settings: LocalSettings, directory: string, consoleUrl: string): string => {
  const { RATE_LIMIT = '0' } = settings.functions;
  const limit = RATE_LIMIT === '0' ? 'off' : `${RATE_LIMIT} requests in 15 minutes (deployed: 100)`;
  return [
    '',
    row('public API', dev.baseUrl),
    row('dashboard API', dev.dashboardUrl),
    row('mail inbox', dev.inboxUrl),
    row('mail webhook', dev.webhookUrl),
    row('public files', dev.filesUrl),
    row('developer', `${dev.developer.email}  ${dev.developer.password}`),
    row('project', dev.projectId),
    row('publishable key', dev.publishableKey),
    row('secret key', dev.secretKey),
    row('rate limit', limit),
    row('all of this', `${directory}/dev.json, with a dashboard token for 12 h`),
    '',
    ...examples(dev),
    '',
    row('console', `${styleText('bold', consoleUrl)}`),
    row('', 'signs you in, once, for 10 minutes; passkeys work at localhost only, not at 127.0.0.1'),
    '',
    ...(dev.exampleUrl === undefined
      ? []
      : [row('example app', styleText('bold', dev.exampleUrl)), row('', 'examples/notes, a project of its own'), '']),
    `ready ${dev.baseUrl}`,
    '',
  ].join('\n');
};
