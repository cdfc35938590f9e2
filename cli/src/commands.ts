import { login, logout, whoami } from './account-commands.ts';
import { logs } from './logs-command.ts';
import { mcp } from './mcp-command.ts';
import { init, link } from './project-commands.ts';
import { diff, pull, push } from './schema-commands.ts';
import type { Terminal } from './terminal.ts';
import { exportCollection, importFile } from './transfer-commands.ts';
import { types } from './types-command.ts';
import { every } from './watch.ts';

interface Option {
  readonly type: 'string' | 'boolean';
  readonly about: string;
  /** The word for the value in the help. */
  readonly value?: string;
}

type Values = { readonly [option: string]: unknown };

export interface Command {
  /** The name, then the arguments; those in brackets can be left out. */
  readonly usage: string;
  readonly summary: string;
  readonly about: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly run: (terminal: Terminal, values: Values, positionals: readonly string[]) => Promise<number>;
}

const file = { type: 'string', value: 'FILE', about: 'the schema file; basalt.schema.json' } as const;
const format = {
  type: 'string',
  value: 'FORMAT',
  about: 'csv, ndjson or json, if the name of the file does not show it',
} as const;
const yes = { type: 'boolean', about: 'ask nothing' } as const;

export const commands: Readonly<Record<string, Command>> = {
  login: {
    usage: 'login',
    summary: 'store a personal access token',
    about:
      'Reads a personal access token from standard input, checks it and stores it with mode 0600.\nBASALT_TOKEN replaces the stored token in all commands.',
    options: {},
    run: login,
  },
  logout: {
    usage: 'logout',
    summary: 'delete the stored token',
    about: 'Deletes the stored token of the dashboard.',
    options: {},
    run: logout,
  },
  whoami: {
    usage: 'whoami',
    summary: 'print the email of the developer',
    about: 'Prints the email of the signed-in developer. The token needs the scope account:read.',
    options: {},
    run: whoami,
  },
  init: {
    usage: 'init NAME',
    summary: 'create a project and link this folder to it',
    about: 'Creates a project, and writes basalt.config.json and basalt.schema.json.',
    options: { yes },
    run: (terminal, values, [name = '']) => init(terminal, values, name),
  },
  link: {
    usage: 'link ID',
    summary: 'link this folder to a project',
    about: 'Writes basalt.config.json, and basalt.schema.json if it is missing.',
    options: { yes },
    run: (terminal, values, [id = '']) => link(terminal, values, id),
  },
  pull: {
    usage: 'pull',
    summary: 'write the project to basalt.schema.json',
    about:
      'Writes the project to the schema file. Its names of environment variables stay if they have the same value.',
    options: { file },
    run: pull,
  },
  diff: {
    usage: 'diff',
    summary: 'compare basalt.schema.json with the project',
    about: 'Prints what a push would change. Ends with 1 if there is a difference.',
    options: { file },
    run: diff,
  },
  push: {
    usage: 'push',
    summary: 'apply basalt.schema.json to the project',
    about: 'Shows the plan, asks, and applies it. If it fails on the way, correct the cause and push again.',
    options: {
      file,
      yes,
      'allow-loss': { type: 'boolean', about: 'also remove fields, collections, templates, webhooks and secrets' },
      secrets: { type: 'boolean', about: 'also send secrets that the project has already' },
    },
    run: push,
  },
  types: {
    usage: 'types [FILE]',
    summary: 'write the TypeScript types of the collections to schema.ts',
    about: 'Writes the types that the publishable key sees.',
    options: {
      watch: { type: 'boolean', about: 'keep the file up to date' },
      every,
    },
    run: (terminal, values, [name]) => types(terminal, values, name),
  },
  import: {
    usage: 'import FILE COLLECTION',
    summary: 'import CSV, NDJSON or a JSON array',
    about: 'Imports a file of up to 1 GiB. Ends with 1 if lines were rejected, and prints the first 100 of them.',
    options: {
      format,
      'keep-ids': { type: 'boolean', about: 'keep the _id of each line' },
      'on-conflict': {
        type: 'string',
        value: 'RULE',
        about: 'with --keep-ids: skip or replace lines whose _id is taken',
      },
    },
    run: (terminal, values, [name = '', collection = '']) => importFile(terminal, values, name, collection),
  },
  export: {
    usage: 'export COLLECTION [FILE]',
    summary: 'export a collection, as NDJSON to standard output without FILE',
    about: 'Exports the active documents of a collection.',
    options: {
      format,
      where: { type: 'string', value: 'JSON', about: 'only documents that meet this condition' },
      'include-deleted': { type: 'boolean', about: 'also documents in the trash' },
    },
    run: (terminal, values, [collection = '', name]) => exportCollection(terminal, values, collection, name),
  },
  logs: {
    usage: 'logs',
    summary: 'print rejected requests',
    about: 'Prints the requests of the last 7 days that were rejected, the newest last, with the reason.',
    options: {
      follow: { type: 'boolean', about: 'also print new ones as they come, until you press Ctrl+C' },
      every,
      code: { type: 'string', value: 'CODE', about: 'only this error, such as RULE_DENIED' },
      route: { type: 'string', value: 'ROUTE', about: 'only this route, such as "GET /api/data/:collection"' },
      'request-id': { type: 'string', value: 'ID', about: 'only the request with this requestId' },
      user: { type: 'string', value: 'ID', about: 'only requests of this user' },
      since: { type: 'string', value: 'TIME', about: 'only from this time on, such as 2026-11-21T08:30:00Z' },
      limit: { type: 'string', value: 'NUMBER', about: 'how many, at most 1000; 20' },
    },
    run: logs,
  },
  mcp: {
    usage: 'mcp',
    summary: 'serve the project to an agent',
    about:
      'Serves the linked project by the Model Context Protocol, on standard input and output.\nAn agent can read the project, its documents and its rejected requests.',
    options: { write: { type: 'boolean', about: 'the agent can also insert, update and change the schema' } },
    run: mcp,
  },
};
