import { decodeJwt } from 'jose';
import type { Operation } from './operation.ts';
import type { Bed } from './seed.ts';

const area = 'dashboard';

/** What a developer has, the project of the benchmark included. */
const projects = 10;

/** Makes projects beside the one of the benchmark. */
export const addProjects = async ({ dashboard }: Bed): Promise<void> => {
  for (let made = 1; made < projects; made++) await dashboard('POST', '/api/projects', { name: `bench ${made}` });
};

const authorized = async ({ newDashboardToken }: Bed): Promise<() => Readonly<Record<string, string>>> => {
  const headers = { authorization: `Bearer ${await newDashboardToken()}` };
  return () => headers;
};

/**
 * What developers do most on the dashboard; the bare server asks for the same documents, and who owns what it is told.
 */
export const dashboardOperations = (bed: Bed): Operation[] => [
  {
    name: 'list projects',
    area,
    aim: { speed: 0.5, counted: 0.25 },
    prepare: async (name) => {
      if (name === 'bare') {
        const path = `/api/projects/list?owner=${decodeJwt(bed.dashboardToken).sub}&limit=20`;
        return { method: 'GET', path: () => path };
      }
      return { method: 'GET', path: () => '/api/projects?limit=20', headers: await authorized(bed) };
    },
    gist: (body, name) => [
      (name === 'bare' ? body : body.data).items.map(({ name: called }: { name: string }) => called),
      (name === 'bare' ? body : body.data).total,
    ],
  },
  {
    name: 'data browser, list 20',
    area,
    aim: { speed: 0.5, counted: 0.35 },
    prepare: async (name) => {
      if (name === 'bare') return { method: 'GET', path: () => '/api/data/bare?limit=20' };
      const path = `/api/projects/${bed.projectId}/collections/${name}/documents?limit=20`;
      return { method: 'GET', path: () => path, headers: await authorized(bed) };
    },
    gist: (body, name) =>
      (name === 'bare' ? body : body.data).items.map(({ title }: { readonly title: string }) => title),
  },
];
