import { version } from '../shared/core/config.ts';
import { describeApi, type OpenApi, projectSchemes, type Tag } from '../shared/http/openapi/describe-api.ts';
import { audiencesTag } from './audiences-tag.ts';
import { publicRoutes } from './routes.ts';

/** Evaluated by the bundler, so functions contain the finished document. */
export const publicDocument = (): OpenApi =>
  describeApi({
    title: 'Basalt, public API',
    description:
      'Documents, user accounts, files and mail of one project, which the key in `x-api-key` names. A publishable key is for browsers and apps, the secret key for servers.',
    version,
    tables: publicRoutes,
    tags: {
      data: { name: 'Documents', description: 'JSON documents in the collections of the project, and their trash.' },
      realtime: { name: 'Live updates', description: 'Tickets for the WebSockets of live updates.' },
      'user-auth': { name: 'User accounts', description: "The accounts and sessions of the app's own users." },
      storage: { name: 'Files', description: 'Direct uploads to the storage, links to files, and deletion.' },
      mail: { name: 'Mail', description: 'Sending emails, and their status.' },
      'mail/audiences': audiencesTag,
      'mail/broadcasts': audiencesTag,
      'mail/webhook': { name: 'Mail webhook', description: 'What the mail provider calls to report deliveries.' },
      service: { name: 'Service', description: 'The API description and the health check.' },
    } satisfies Record<keyof typeof publicRoutes, Tag>,
    securitySchemes: projectSchemes,
  });
