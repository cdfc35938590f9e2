import { randomUUID } from 'node:crypto';
import { dashboardRoutes, publicRoutes } from '../functions/routes.ts';
import { functionName } from '../infra/build/function-files.ts';
import { methodsOf, type NamedRoute } from '../shared/http/route.ts';

/** The credentials of the events. */
export interface Sender {
  readonly projectId: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  /** The project owner's. */
  readonly dashboardToken: string;
}

const unknownId = 'f'.repeat(24);

const credentialsFor = ({ access }: NamedRoute, sender: Sender): Record<string, string> => {
  if (access === 'developer') return { authorization: `Bearer ${sender.dashboardToken}` };
  if (access === 'public') return {};
  const isUsers = access === 'publishableKey' || access === 'user';
  return { 'x-api-key': isUsers ? sender.publishableKey : sender.secretKey };
};

/** Dashboard routes that change something get another project's id, so that this project stays unchanged. */
const projectOf = (route: NamedRoute, method: string, { projectId }: Sender): string =>
  route.path.startsWith('/api/projects/') && method !== 'GET' ? unknownId : projectId;

const eventFor = (route: NamedRoute, sender: Sender) => {
  const [method = 'GET'] = methodsOf(route);
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const known = new Map([
    ['projectId', projectOf(route, method, sender)],
    ['collectionName', 'posts'],
    ['provider', 'github'],
  ]);
  const body = route.access === 'developer' ? {} : route.example?.body;
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: route.path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', ...credentialsFor(route, sender) },
    pathParameters: Object.fromEntries(names.map((name) => [name, known.get(name) ?? unknownId])),
    requestContext: {
      domainName: 'localhost',
      http: { method, path: route.path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'bench' },
      requestId: randomUUID(),
    },
    ...(route.body && body !== undefined && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
};

/** Function → an event with credentials that reaches its own work; only routes. */
export const firstEvents = (sender: Sender): ReadonlyMap<string, unknown> => {
  const tables = Object.entries<Readonly<Record<string, NamedRoute>>>({ ...publicRoutes, ...dashboardRoutes });
  return new Map(
    tables.flatMap(([area, table]) =>
      Object.values(table).map((route) => [functionName(area, route.id), eventFor(route, sender)]),
    ),
  );
};
