import { dashboardAuthRoutes } from './dashboard/auth/routes.ts';
import { dashboardCollectionRoutes } from './dashboard/collections/routes.ts';
import { dashboardProjectRoutes } from './dashboard/projects/routes.ts';
import { dashboardUserRoutes } from './dashboard/users/routes.ts';
import { dataRoutes } from './data/routes.ts';
import { userAuthRoutes } from './user-auth/routes.ts';

/** The public API: area → table. A row's handler is `functions/<area>/<row>.ts`. */
export const publicRoutes = { data: dataRoutes, 'user-auth': userAuthRoutes } as const;

/** The dashboard API, on a base address of its own. */
export const dashboardRoutes = {
  'dashboard/auth': dashboardAuthRoutes,
  'dashboard/projects': dashboardProjectRoutes,
  'dashboard/collections': dashboardCollectionRoutes,
  'dashboard/users': dashboardUserRoutes,
} as const;

/** Every route of the service. */
export const routes = { ...publicRoutes, ...dashboardRoutes } as const;
