import { defaultRoutes } from '../../functions/default/routes.ts';
import { type Job, jobs } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { functionName } from '../../infra/build/function-files.ts';
import { reachedNames } from '../../infra/build/reached-names.ts';
import { type Permission, permissionsOfJob, permissionsOfRoute } from '../../infra/stacks/grants.ts';
import type { RouteTable } from '../../shared/http/route.ts';

/** The permissions that the code of all functions needs. */
export const reached = await reachedNames();

const areas = Object.entries<RouteTable>({ ...publicRoutes, ...dashboardRoutes, default: defaultRoutes });

/** Every route with the permissions of its function. */
export const routePermissions = areas.flatMap(([area, table]) =>
  Object.entries(table).map(([id, route]) => {
    const name = functionName(area, id);
    return { area, id, name, route, permissions: permissionsOfRoute(reached(name), route) };
  }),
);

/** Every job with the permissions of its function. */
export const jobPermissions = Object.entries<Job>(jobs).map(([id, job]) => {
  const name = functionName('jobs', id);
  return { id, name, job, permissions: permissionsOfJob(reached(name), job) };
});

/** Jobs of a deployment with CloudFront, which takes the place of two. */
export const jobsBesideCloudFront = jobPermissions.filter(({ id }) => id !== 'serve-file' && id !== 'serve-page');

/** Name of a function → its permissions. */
export const allPermissions: ReadonlyMap<string, readonly Permission[]> = new Map(
  [...routePermissions, ...jobPermissions].map(({ name, permissions }) => [name, permissions]),
);
