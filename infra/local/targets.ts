import { defaultRoutes } from '../../functions/default/routes.ts';
import { type RouteTable, routedMethodsOf } from '../../shared/http/route.ts';
import { functionName } from '../build/function-files.ts';
import { compileRoutes, type FindRoute } from './router.ts';

const unknownRoute = functionName('default', defaultRoutes['not-found'].id);

/** The look-up of the rows of an API's areas: area → table gives functions named `<area>-<row>`. */
export const findRouteIn = (tables: Readonly<Record<string, RouteTable>>): FindRoute =>
  compileRoutes(
    Object.entries(tables).flatMap(([area, table]) =>
      Object.entries(table).flatMap(([row, route]) =>
        routedMethodsOf(route).map((method) => ({ name: functionName(area, row), method, path: route.path })),
      ),
    ),
    unknownRoute,
  );
