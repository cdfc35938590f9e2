import { dashboardAuthRoutes } from './dashboard/auth/routes.ts';
import { dashboardCollectionRoutes } from './dashboard/collections/routes.ts';
import { dashboardProjectRoutes } from './dashboard/projects/routes.ts';
import { dataRoutes } from './data/routes.ts';

/** The public API: area → table. A row's handler is `functions/<area>/<row>.ts`. */
export const publicRoutes = { data: dataRoutes } as const;

/** The dashboard API, on a base address of its own. */
export const dashboardRoutes = {
  'dashboard/auth': dashboardAuthRoutes,
  'dashboard/projects': dashboardProjectRoutes,
  'dashboard/collections': dashboardCollectionRoutes,
} as const;

/** Every route of the service. */
export const routes = { ...publicRoutes, ...dashboardRoutes } as const;
