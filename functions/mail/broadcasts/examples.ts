import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { audienceId, providerFailures as failures } from '../audiences/examples.ts';
import { broadcastRoutes } from './routes.ts';

export const broadcastId = '559ac32e-9ef5-46fb-82a1-b76b840c0f7b';

export const newBroadcast = {
  audienceId,
  subject: 'What is new',
  html: '<p>There is something new.</p>',
  from: 'Basalt <news@example.com>',
};

/** For the API description: a successful request for each route. */
export const broadcastExamples = defineExamples(broadcastRoutes, {
  'create-broadcast': { body: newBroadcast, failures },
  'send-broadcast': { params: { id: broadcastId }, failures: [...failures, 'MAIL_QUOTA_EXCEEDED'] },
  'list-broadcasts': { query: { limit: '20' }, failures },
  'get-broadcast': { params: { id: broadcastId }, failures },
  'delete-broadcast': { params: { id: broadcastId }, failures },
});
