import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { roleFor } from '../../shared/http/middleware/developer.ts';
import { type JsonSchema, jsonSchemaOf } from '../../shared/http/openapi/json-schema.ts';
import { type Access, methodsOf, type NamedRoute, type RouteTable, scopesOf } from '../../shared/http/route.ts';
import { generated } from './generated.ts';

/** A page of the reference: areas, with the heading of each. */
interface ApiPage {
  readonly title: string;
  readonly areas: Readonly<Record<string, string>>;
}

/** File → page. Every area is on one of them. */
const pages: Readonly<Record<string, ApiPage>> = {
  'data.md': {
    title: 'Documents and live updates',
    areas: { data: 'Documents', realtime: 'Live updates', service: 'Service' },
  },
  'user-accounts.md': { title: 'User accounts', areas: { 'user-auth': 'User accounts' } },
  'files-and-mail.md': {
    title: 'Files and email',
    areas: {
      storage: 'Files',
      mail: 'Email',
      'mail/audiences': 'Audiences',
      'mail/broadcasts': 'Broadcasts',
      'mail/webhook': 'Events of the mail provider',
    },
  },
  'developer-accounts.md': {
    title: 'Dashboard: developer accounts and projects',
    areas: {
      'dashboard/auth': 'Developer accounts',
      'dashboard/tokens': 'Personal access tokens',
      'dashboard/projects': 'Projects',
      'dashboard/members': 'Members',
      'dashboard/audit': 'Audit trail',
      'dashboard/usage': 'Usage',
      'dashboard/assistant': 'Schema assistant',
      'dashboard/service': 'Service',
    },
  },
  'project-data.md': {
    title: 'Dashboard: collections, documents and users',
    areas: {
      'dashboard/collections': 'Collections',
      'dashboard/documents': 'Documents',
      'dashboard/trash': 'Trash',
      'dashboard/transfers': 'Exports and imports',
      'dashboard/database': 'Your own database',
      'dashboard/users': 'Users',
    },
  },
  'project-files-and-mail.md': {
    title: 'Dashboard: files, email and webhooks',
    areas: {
      'dashboard/storage': 'Files',
      'dashboard/mail': 'Email',
      'dashboard/mail/audiences': 'Audiences',
      'dashboard/mail/broadcasts': 'Broadcasts',
      'dashboard/webhooks': 'Webhooks',
    },
  },
};

const tables: Readonly<Record<string, RouteTable>> = { ...publicRoutes, ...dashboardRoutes };

const callers: Readonly<Record<Access, string>> = {
  public: 'no key',
  anyKey: 'any key',
  publishableKey: 'publishable key',
  secretKey: 'secret key',
  user: 'publishable key and user token',
  developer: 'developer',
};

const callerOf = (route: NamedRoute): string => {
  if (route.access !== 'developer') return callers[route.access];
  if (!route.path.startsWith('/api/projects/{projectId}')) return callers.developer;
  const [scope] = scopesOf(route);
  return `role ${roleFor(route)}${scope === undefined ? '' : `, scope \`${scope}\``}`;
};

/** Names of the fields of an object, those that may be left out with a `?`. */
const fieldsOf = ({ properties, required }: JsonSchema): string => {
  const needed = new Set((required ?? []) as readonly string[]);
  return Object.keys(properties ?? {})
    .map((name) => `\`${name}${needed.has(name) ? '' : '?'}\``)
    .join(', ');
};

const line = (label: string, text: string): string => (text === '' ? '' : `- ${label}: ${text}\n`);

const entry = (route: NamedRoute): string => {
  const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const { status, orCreated } = route.response;
  const body = route.body && jsonSchemaOf(route.body);
  const codes = (route.errors ?? []).map((code) => `\`${code}\``).join(', ');
  return `
### ${route.summary}

\`${methodsOf(route).join(' ')} ${path}\` · ${callerOf(route)} · ${orCreated ? `${status} or 201` : status}

${[
  line('Query', route.query ? fieldsOf(jsonSchemaOf(route.query)) : ''),
  line('Body', body ? fieldsOf(body) || (body.type === 'array' ? 'a list' : 'an object') : ''),
  line('Header', route.repeats === undefined ? '' : '`Idempotency-Key`'),
  line('Errors', codes),
].join('')}`.trimEnd();
};

const sectionOf = (area: string, heading: string): string => {
  const entries = Object.values(tables[area] ?? {})
    .filter(({ path }) => path.startsWith('/'))
    .map(entry);
  return `\n## ${heading}\n${entries.join('\n')}\n`;
};

/** The areas that a page shows, for the test that none is missing. */
export const shownAreas: readonly string[] = Object.values(pages).flatMap(({ areas }) => Object.keys(areas));

const isDashboard = (title: string): boolean => title.startsWith('Dashboard');

const introOf = (title: string): string =>
  isDashboard(title)
    ? 'These routes have the base address of the dashboard API and need a developer in `Authorization`.\n'
    : "These routes need a project's key in `x-api-key`.\n";

/** File below docs/reference/api → its text: each route with its caller, fields, and the codes of its own. */
export const apiPages = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(pages).map(([file, { title, areas }]) => [
      `api/${file}`,
      `${generated}# ${title}

${introOf(title)}Fields with \`?\` are optional. "Errors" are those of the route itself; [the reference](../README.md#errors-of-every-route) lists those of every route.
\`GET /api/openapi.json\` describes every body and response in full.
${Object.entries(areas)
  .map(([area, heading]) => sectionOf(area, heading))
  .join('')}`,
    ]),
  );
