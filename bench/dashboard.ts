import { decodeJwt } from 'jose';
import { type Db, ObjectId } from 'mongodb';
import type { LoadRequest } from './load.ts';
import type { Name, Operation } from './operation.ts';
import type { Bed } from './seed.ts';

const area = 'dashboard';

/** The number of projects of the developer, including the benchmark's. */
const projects = 10;

/** Creates more projects. */
export const addProjects = async ({ dashboard }: Bed): Promise<void> => {
  for (let made = 1; made < projects; made++) await dashboard('POST', '/api/projects', { name: `bench ${made}` });
};

const authorized = async ({ newDashboardToken }: Bed): Promise<() => Readonly<Record<string, string>>> => {
  const headers = { authorization: `Bearer ${await newDashboardToken()}` };
  return () => headers;
};

const mails = 100;

/** Adds delivered emails to the project's log. */
export const addMailLogs = async (control: Db, projectId: string): Promise<void> => {
  const rows = Array.from({ length: mails }, (_, index) => {
    const at = new Date(Date.now() - index * 60_000);
    return {
      projectId: new ObjectId(projectId),
      to: [`reader-${index}@example.com`],
      subject: `Your order ${index}`,
      status: 'delivered',
      usingByok: false,
      templateUsed: null,
      providerEmailId: `mail-${index}`,
      sentAt: at,
      createdAt: at,
      updatedAt: at,
    };
  });
  await control.collection('mailLogs').insertMany(rows);
};

// biome-ignore lint/suspicious/noExplicitAny: two products answer in two shapes
const dataOf = (body: any, name: Name): any => (name === 'bare' ? body : body.data);

interface Screen extends Pick<Operation, 'name' | 'gist'> {
  /** The paths for the bare server and for Basalt. */
  readonly bare: string;
  readonly basalt: (name: Name) => string;
}

/**
 * The most frequent dashboard requests. The bare server reads the same documents, and trusts the owner in the request.
 */
export const dashboardOperations = (bed: Bed): Operation[] => {
  const base = `/api/projects/${bed.projectId}`;
  const screens: readonly Screen[] = [
    {
      name: 'list projects',
      bare: `/api/projects/list?owner=${decodeJwt(bed.dashboardToken).sub}&limit=20`,
      basalt: () => '/api/projects?limit=20',
      gist: (body, name) => {
        const { items, total } = dataOf(body, name);
        return [items.map(({ name: called }: { readonly name: string }) => called), total];
      },
    },
    {
      name: 'data browser, list 20',
      bare: '/api/data/bare?limit=20',
      basalt: (name) => `${base}/collections/${name}/documents?limit=20`,
      gist: (body, name) => dataOf(body, name).items.map(({ title }: { readonly title: string }) => title),
    },
    {
      name: 'list users',
      bare: '/api/data/users?limit=20',
      basalt: () => `${base}/users?limit=20`,
      gist: (body, name) => dataOf(body, name).items.map(({ email }: { readonly email: string }) => email),
    },
    {
      name: 'mail log',
      bare: `/api/projects/logs?project=${bed.projectId}`,
      basalt: () => `${base}/mail/logs`,
      gist: (body, name) => dataOf(body, name).map(({ subject }: { readonly subject: string }) => subject),
    },
  ];
  return screens.map(({ name: screen, gist, bare, basalt }) => ({
    name: screen,
    area,
    aim: { speed: 0.5, counted: 0.25 },
    prepare: async (name) => {
      const path = name === 'bare' ? bare : basalt(name);
      const request: LoadRequest = { method: 'GET', path: () => path, distinct: 1 };
      return name === 'bare' ? request : { ...request, headers: await authorized(bed) };
    },
    ...(gist && { gist }),
  }));
};
