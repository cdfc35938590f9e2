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
  user: 'user token',
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

/** Without the code for an unknown id in the address, which the reference explains one time. */
const codesOf = (route: NamedRoute, without: ReadonlySet<string>): readonly string[] =>
  (route.errors ?? []).filter(
    (code) => !(without.has(code) || (code.endsWith('_NOT_FOUND') && /\{(?!projectId|collection)/.test(route.path))),
  );

/** Names of the fields of an object, those that may be left out with a `?`. */
const fieldsOf = ({ properties, required }: JsonSchema, without: readonly string[] = []): string => {
  const needed = new Set((required ?? []) as readonly string[]);
  const names = Object.keys(properties ?? {}).filter((name) => !without.includes(name));
  return spanOf(names.map((name) => `${name}${needed.has(name) ? '' : '?'}`));
};

const line = (label: string, text: string): string => (text === '' ? '' : `- ${label}: ${text}\n`);

const statusOf = ({ response: { status, orCreated } }: NamedRoute): string => {
  if (orCreated) return ` · ${status} or 201`;
  return status === 200 ? '' : ` · ${status}`;
};

const addressOf = (route: NamedRoute): string =>
  `\`${methodsOf(route).join(' ')} ${route.path.replace(`${project}/`, '…/').replaceAll(/\{(\w+)\}/g, ':$1')}\``;

/** Areas whose routes show a body: names of fields alone do not explain schemas, rules, effects and roles. */
const areasWithExamples: ReadonlySet<string> = new Set(['dashboard/members', 'dashboard/collections']);

/** Longer bodies are in the OpenAPI description. */
const maxExampleLength = 160;

const exampleOf = ({ example }: NamedRoute): string => {
  const text = JSON.stringify(example?.body) ?? '';
  return text === '' || text.length > maxExampleLength ? '' : `\`${text}\``;
};

const entry = (route: NamedRoute, area: string, known: ReadonlySet<string>): string => {
  const body = route.body && jsonSchemaOf(route.body);
  const paging = route.access === 'developer' ? ['page', 'limit'] : [];
  const key = route.repeats === undefined ? '' : ' · `Idempotency-Key`';
  return `
### ${route.summary}

${addressOf(route)} · ${callerOf(route)}${statusOf(route)}${key}

${[
  line('Query', route.query ? fieldsOf(jsonSchemaOf(route.query), paging) : ''),
  line('Body', body ? fieldsOf(body) || (body.type === 'array' ? 'a list' : 'an object') : ''),
  line('Example', areasWithExamples.has(area) ? exampleOf(route) : ''),
  line('Errors', spanOf(codesOf(route, known))),
].join('')}`.trimEnd();
};

/** The codes of the mail provider's errors are one family, named one time. */
const withoutFamilies = (codes: readonly string[]): readonly string[] => [
  ...new Set(codes.map((code) => code.replace(/^MAIL_PROVIDER_.*/, 'MAIL_PROVIDER_…'))),
];

const routesOf = (area: string): readonly NamedRoute[] =>
  Object.values(tables[area] ?? {}).filter((route) => route.path.startsWith('/'));

/** Areas of the dashboard that repeat public routes: their address, the public one, and the page and area of the public ones. */
const twins: Readonly<Record<string, readonly [from: string, to: string, page: string, area: string]>> = {
  'dashboard/auth': ['/api/auth', '/api/userAuth', 'user-accounts.md', 'user-auth'],
  'dashboard/documents': [`${project}/collections/{}/documents`, '/api/data/{}', 'data.md', 'data'],
  'dashboard/storage': [project, '/api', 'files-and-mail.md#files', 'storage'],
  'dashboard/mail': [project, '/api', 'files-and-mail.md#email', 'mail'],
  'dashboard/mail/audiences': [project, '/api', 'files-and-mail.md#audiences', 'mail/audiences'],
  'dashboard/mail/broadcasts': [project, '/api', 'files-and-mail.md#broadcasts', 'mail/broadcasts'],
};

/** Methods, address and fields of a route; two routes with the same take the same requests. */
const shapeOf = (route: NamedRoute, from = '', to = ''): string => {
  const address = route.path.replaceAll(/\{(?!projectId)\w+\}/g, '{}').replace(from, to);
  const fields = [route.query, route.body].map((schema) => schema && fieldsOf(jsonSchemaOf(schema)));
  return JSON.stringify([methodsOf(route), address, ...fields, statusOf(route)]);
};

/** The routes of an area that equal public routes and return no other errors. */
const twinsIn = (area: string): readonly NamedRoute[] => {
  const [from, to, , publicArea = ''] = twins[area] ?? [];
  const errorsOf = new Map(routesOf(publicArea).map((route) => [shapeOf(route), route.errors ?? []]));
  return routesOf(area).filter((route) => {
    const errors: readonly string[] | undefined = errorsOf.get(shapeOf(route, from, to));
    return errors !== undefined && (route.errors ?? []).every((code) => errors.includes(code));
  });
};

const twinList = (area: string, routes: readonly NamedRoute[]): string =>
  routes.length === 0
    ? ''
    : `\nThese work like the [public routes](${twins[area]?.[2]}):\n\n${routes.map((route) => `- ${addressOf(route)} · ${callerOf(route)}\n`).join('')}`;

/** Codes that each of several routes returns are listed one time, above the routes. */
const sectionOf = (area: string, heading: string, ofEveryRoute: ReadonlySet<string>): string => {
  const repeated = twinsIn(area);
  const routes = routesOf(area).filter((route) => !repeated.includes(route));
  const [first, ...others] = routes;
  const shared =
    first && others.length > 0
      ? codesOf(first, ofEveryRoute).filter((code) => others.every(({ errors }) => errors?.some((its) => its === code)))
      : [];
  const known = new Set([...ofEveryRoute, ...shared]);
  const intro = shared.length > 0 ? `\nErrors of all these routes: ${spanOf(withoutFamilies(shared))}\n` : '';
  return `\n## ${heading}\n${intro}${routes.map((route) => `${entry(route, area, known)}\n`).join('')}${twinList(area, repeated)}`;
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
