import { describeApi, type OpenApi } from '../shared/http/openapi/describe-api.ts';
import { dashboardSchemes } from '../shared/http/openapi/security.ts';
import { version } from '../shared/version.ts';
import { dashboardExamples } from './examples.ts';
import { dashboardRoutes } from './routes.ts';

/** The OpenAPI description of the dashboard API. It is made once: where functions are bundled, by the bundler. */
export const dashboardDocument = (): OpenApi =>
  describeApi({
    title: 'Basalt, dashboard API',
    description:
      'Everything that a developer does with projects: keys, collections, documents, end users, files, mail, members and settings. For a console, and for scripts with a personal access token.',
    version,
    tables: dashboardRoutes,
    examples: dashboardExamples,
    tags: {
      'dashboard/auth': 'Developer accounts',
      'dashboard/tokens': 'Personal access tokens',
      'dashboard/projects': 'Projects and keys',
      'dashboard/members': 'Members',
      'dashboard/audit': 'Audit trail',
      'dashboard/collections': 'Collections',
      'dashboard/database': 'Own database',
      'dashboard/documents': 'Data browser',
      'dashboard/trash': 'Trash',
      'dashboard/transfers': 'Exports and imports',
      'dashboard/users': 'End users',
      'dashboard/storage': 'Files',
      'dashboard/mail': 'Mail',
      'dashboard/mail/audiences': 'Audiences and broadcasts',
      'dashboard/mail/broadcasts': 'Audiences and broadcasts',
      'dashboard/assistant': 'Schema assistant',
      'dashboard/usage': 'Usage',
      'dashboard/service': 'Service',
    } satisfies Record<keyof typeof dashboardRoutes, string>,
    securitySchemes: dashboardSchemes,
  });
