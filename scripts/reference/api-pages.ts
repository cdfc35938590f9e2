import { readFileSync } from 'node:fs';
import path from 'node:path';
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
  user: 'publishable key, user token',
  developer: 'developer',
};

const project = '/api/projects/{projectId}';

/** The scope, and the role unless it is the usual one: viewers read, admins write. */
const callerOf = (route: NamedRoute): string => {
  if (route.access !== 'developer') return callers[route.access];
  if (!route.path.startsWith(project)) return callers.developer;
  const role = roleFor(route);
  const [scope] = scopesOf(route);
  if (scope === undefined) return role;
  return `\`${scope}\`${role === (scope.endsWith(':read') ? 'viewer' : 'admin') ? '' : `, ${role}`}`;
};

/** Names in one code span, separated by spaces. */
const spanOf = (names: readonly string[]): string => (names.length === 0 ? '' : `\`${names.join(' ')}\``);

/** The codes that the reference lists for every route. */
const codesOfEveryRoute = (): ReadonlySet<string> => {
  const readme = readFileSync(path.join(import.meta.dirname, '../../docs/reference/README.md'), 'utf8');
  const [, section = ''] = readme.split('## Errors of every route');
  return new Set(section.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? []);
};

const codesOf = (route: NamedRoute, without: ReadonlySet<string>): readonly string[] =>
  (route.errors ?? []).filter((code) => !without.has(code));

/** Names of the fields of an object, those that may be left out with a `?`. */
const fieldsOf = ({ properties, required }: JsonSchema): string => {
  const needed = new Set((required ?? []) as readonly string[]);
  return spanOf(Object.keys(properties ?? {}).map((name) => `${name}${needed.has(name) ? '' : '?'}`));
};

const line = (label: string, text: string): string => (text === '' ? '' : `- ${label}: ${text}\n`);

const statusOf = ({ response: { status, orCreated } }: NamedRoute): string => {
  if (orCreated) return ` · ${status} or 201`;
  return status === 200 ? '' : ` · ${status}`;
};

const entry = (route: NamedRoute, known: ReadonlySet<string>): string => {
  const address = route.path.replace(`${project}/`, '…/').replaceAll(/\{(\w+)\}/g, ':$1');
  const body = route.body && jsonSchemaOf(route.body);
  const key = route.repeats === undefined ? '' : ' · `Idempotency-Key`';
  return `
### ${route.summary}

\`${methodsOf(route).join(' ')} ${address}\` · ${callerOf(route)}${statusOf(route)}${key}

${[
  line('Query', route.query ? fieldsOf(jsonSchemaOf(route.query)) : ''),
  line('Body', body ? fieldsOf(body) || (body.type === 'array' ? 'a list' : 'an object') : ''),
  line('Errors', spanOf(codesOf(route, known))),
].join('')}`.trimEnd();
};

/** The codes of the mail provider's errors are one family, named one time. */
const withoutFamilies = (codes: readonly string[]): readonly string[] => [
  ...new Set(codes.map((code) => code.replace(/^MAIL_PROVIDER_.*/, 'MAIL_PROVIDER_…'))),
];

/** Areas of the dashboard with the routes of a public area, below the project's address. */
const mirrors: Readonly<Record<string, { readonly area: string; readonly page: string }>> = {
  'dashboard/mail/audiences': { area: 'mail/audiences', page: 'files-and-mail.md#audiences' },
  'dashboard/mail/broadcasts': { area: 'mail/broadcasts', page: 'files-and-mail.md#broadcasts' },
};

/** What a route takes and returns, without its caller and summary. */
const shapeOf = (route: NamedRoute): string =>
  JSON.stringify([
    methodsOf(route),
    route.path.replace(/^\/api(?:\/projects\/\{projectId\})?\//, ''),
    route.query && jsonSchemaOf(route.query),
    route.body && jsonSchemaOf(route.body),
    statusOf(route),
    route.errors,
  ]);

const routesOf = (area: string): readonly NamedRoute[] =>
  Object.values(tables[area] ?? {}).filter((route) => route.path.startsWith('/'));

const mirrorOf = (area: string): string | undefined => {
  const mirror = mirrors[area];
  if (mirror === undefined) return;
  const [own, theirs] = [area, mirror.area].map((name) => routesOf(name).map(shapeOf).sort().join('\n'));
  if (own !== theirs) throw new Error(`${area} no longer has the routes of ${mirror.area}: remove it from mirrors`);
  return `\nThe [public routes](${mirror.page}), at \`…/${mirror.area}\`. Reading needs \`mail:read\`, changes need \`mail:write\`.\n`;
};

/** Codes that each of several routes returns are listed one time, above the routes. */
const sectionOf = (area: string, heading: string, ofEveryRoute: ReadonlySet<string>): string => {
  const mirror = mirrorOf(area);
  if (mirror !== undefined) return `\n## ${heading}\n${mirror}`;
  const routes = routesOf(area);
  const [first, ...others] = routes;
  const shared =
    first && others.length > 0
      ? codesOf(first, ofEveryRoute).filter((code) => others.every(({ errors }) => errors?.some((its) => its === code)))
      : [];
  const known = new Set([...ofEveryRoute, ...shared]);
  const intro = shared.length > 0 ? `\nErrors of all these routes: ${spanOf(withoutFamilies(shared))}\n` : '';
  return `\n## ${heading}\n${intro}${routes.map((route) => entry(route, known)).join('\n')}\n`;
};

/** The areas that a page shows, for the test that none is missing. */
export const shownAreas: readonly string[] = Object.values(pages).flatMap(({ areas }) => Object.keys(areas));

const isDashboard = (title: string): boolean => title.startsWith('Dashboard');

const introOf = (title: string): string =>
  isDashboard(title)
    ? 'These routes have the base address of the dashboard API and need a developer in `Authorization`.\n`…` is `/api/projects/:projectId`.\n'
    : "These routes need a project's key in `x-api-key`.\n";

/** File below docs/reference/api → its text: each route with its caller, fields, and the codes of its own. */
export const apiPages = (): ReadonlyMap<string, string> => {
  const ofEveryRoute = codesOfEveryRoute();
  return new Map(
    Object.entries(pages).map(([file, { title, areas }]) => [
      `api/${file}`,
      `${generated}# ${title}

${introOf(title)}[How to read this page](../README.md#routes)
${Object.entries(areas)
  .map(([area, heading]) => sectionOf(area, heading, ofEveryRoute))
  .join('')}`,
    ]),
  );
};
