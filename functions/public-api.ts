import { describeApi, type OpenApi } from '../shared/http/openapi/describe-api.ts';
import { projectSchemes } from '../shared/http/openapi/security.ts';
import { version } from '../shared/version.ts';
import { publicExamples } from './examples.ts';
import { publicRoutes } from './routes.ts';

/** The OpenAPI description of the public API. It is made once: where functions are bundled, by the bundler. */
export const publicDocument = (): OpenApi =>
  describeApi({
    title: 'Basalt, public API',
    description:
      'Documents, user accounts, files and mail of one project, which the key in `x-api-key` names. A publishable key is for browsers and apps, the secret key for servers.',
    version,
    tables: publicRoutes,
    examples: publicExamples,
    tags: {
      data: 'Documents',
      'user-auth': 'User accounts',
      storage: 'Files',
      mail: 'Mail',
      'mail/audiences': 'Audiences and broadcasts',
      'mail/broadcasts': 'Audiences and broadcasts',
      'mail/webhook': 'Mail webhook',
      service: 'Service',
    } satisfies Record<keyof typeof publicRoutes, string>,
    securitySchemes: projectSchemes,
  });
