import { suppress } from '../../../../shared/mail/suppressions.ts';
import { call } from '../../clients/client.ts';
import { eventually } from '../../clients/eventually.ts';
import { eventOf, signedHeaders } from '../../clients/webhook.ts';
import { sampleBodies } from '../../samples/route-cases.ts';
import { userEmail } from './users.ts';
import { email, inDocuments, noteUntold, routeNamed, send, stack } from './witness.ts';

export const webhookSecret = `whsec_${Buffer.from('what-the-provider-signs-with').toString('base64')}`;

/** All that is kept at the mail provider with the project's own key, by the mail API and by the dashboard. */
export const keepAudiences = async (projectId: string, key: string, token: string): Promise<void> => {
  for (const whose of ['', 'project-']) {
    const act = async (verb: string, what: string, more: Record<string, string> = {}, given?: object) => {
      const id = `${verb}-${whose}${what}`;
      const body = given ?? sampleBodies[id];
      const { body: answered } = await send(
        routeNamed(id),
        { projectId, ...more },
        { key, token, ...(body === undefined ? {} : { body }) },
      );
      return (answered.data as { id: string }).id;
    };
    const audienceId = await act('create', 'audience');
    const contact = { audienceId, contactId: await act('create', 'contact', { audienceId }) };
    await act('list', 'audiences');
    await act('list', 'contacts', { audienceId });
    await act('update', 'contact', contact);
    const draft = { audienceId, subject: inDocuments, html: inDocuments };
    const id = await act('create', 'broadcast', {}, draft);
    await act('list', 'broadcasts');
    await act('get', 'broadcast', { id });
    await act('send', 'broadcast', { id });
    await act('delete', 'broadcast', { id: await act('create', 'broadcast', {}, draft) });
    await act('delete', 'contact', contact);
    await act('delete', 'audience', { audienceId });
  }
};

/** Events of the mail provider, from the account that all projects share and from the project's own. */
export const takeEvents = async (projectId: string): Promise<void> => {
  const event = JSON.stringify(eventOf('email.opened', { subject: inDocuments }));
  for (const [route, secret] of [
    ['receive-webhook', stack.env.MAIL_WEBHOOK_SECRET ?? ''],
    ['receive-project-webhook', webhookSecret],
  ] as const) {
    const headers = signedHeaders(Buffer.from(event), { secret });
    await send(routeNamed(route), { projectId }, { headers, body: event });
  }
};

/**
 * A template and what is sent from it, with what is told of a mail, and an address that no mail goes to for a while.
 */
export const keepMails = async (parameters: Record<string, string>, key: string, token: string): Promise<void> => {
  const act = (id: string, more: Record<string, string> = {}, body = sampleBodies[id]) =>
    send(routeNamed(id), { ...parameters, ...more }, { key, token, ...(body === undefined ? {} : { body }) });
  const made = await act('create-mail-template');
  const template = { templateId: String((made.body.data as { _id: string })._id) };
  await act('get-mail-template', template);
  await act('update-mail-template', template);
  await act('send-test-mail', template, { to: email, variables: { name: inDocuments } });
  await act('delete-mail-template', template);

  await act('send-mail', {}, { to: userEmail, subject: inDocuments, text: inDocuments });
  const providerId = await eventually(async () => {
    noteUntold();
    const { body } = await call<{ data: { providerEmailId: string | null }[] }>(
      stack.baseUrl,
      'GET',
      routeNamed('list-mail-logs').pathWith({}),
      { key },
    );
    const known = body.data.find(({ providerEmailId }) => providerEmailId)?.providerEmailId;
    if (!known) throw new Error('No mail has gone out yet');
    return known;
  });
  await act('get-mail-log', { providerId });
  await act('get-project-mail-log', { providerId });

  await suppress(parameters.projectId ?? '', ['sample@example.com'], { reason: 'bounced', providerEmailId: null });
  await act('delete-suppression', { email: 'sample@example.com' });
};
