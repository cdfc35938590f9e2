import { crc32, deflateSync } from 'node:zlib';
import { ObjectId } from 'mongodb';
import { developerAccounts, setPlan } from '../../shared/accounts/developers/developers.ts';
import { markVerified } from '../../shared/accounts/email-proofs.ts';
import { clock } from '../../shared/core/clock.ts';
import { newId } from '../../shared/core/ids.ts';
import type { WebhookEvent } from '../../shared/webhooks/event-types.ts';
import { deliveryRecords, webhookRecords } from '../../shared/webhooks/records.ts';
import { shop } from './shop.ts';

const dayMs = 86_400_000;
const days = 29;

interface Addresses {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
}

/** Ids of a project with a month of activity, and of an empty one. */
interface Seeded {
  readonly full: string;
  readonly empty: string;
}

interface Project {
  readonly _id: string;
  readonly publishableKey: string;
  readonly secretKey: string;
}

const send = async <T>(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<T> => {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...given });
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const chunk = (kind: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};

/** A small PNG of one colour that gets lighter towards one corner. */
const picture = (colour: readonly number[]): Buffer => {
  const side = 96;
  const rows = Array.from({ length: side }, (_, y) => [
    0,
    ...Array.from({ length: side }, (_pixel, x) => colour.map((part) => Math.min(255, part + x + y))).flat(),
  ]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  // 8 bits per channel, RGB.
  head.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

/** Stores a webhook with its latest deliveries. Its server does not exist, so nothing is sent. */
const tellTheStock = async (projectId: ObjectId, people: readonly string[]): Promise<void> => {
  const [webhookId, now, later] = [newId(), clock.now(), new Date(clock.now() + 300 * 60_000)];
  const at = new Date(now - dayMs);
  await webhookRecords.insertOne({
    ...{ _id: webhookId, projectId, slot: 0, enabled: true, sealedSecret: '', positions: {}, nudges: 0 },
    url: 'https://stock.fernandfield.example/hooks',
    events: ['document.created', 'document.updated', 'user.created'],
    collections: ['orders'],
    ...{ leasedUntil: at, dueAt: later, createdAt: at, updatedAt: at },
  });
  const told: readonly (readonly [type: WebhookEvent, minutesAgo: number, ...statuses: (number | null)[]])[] = [
    ['document.created', 400, 204],
    ['document.created', 310, 204],
    ['user.created', 305, 503, 204],
    ['document.updated', 190, 204],
    ['document.created', 95, null, 500, 204],
    ['document.updated', 7, 503, 503],
  ];
  await deliveryRecords.insertMany(
    told.map(([type, minutesAgo, ...statuses], index) => {
      const createdAt = new Date(now - minutesAgo * 60_000);
      const isDelivered = statuses.at(-1) === 204;
      return {
        ...{ _id: newId(), projectId, webhookId, type, marks: 1, createdAt },
        thing: type === 'user.created' ? `user/${people[0]}` : `document/orders/${index}`,
        state: isDelivered ? 'delivered' : 'waiting',
        attempts: statuses.map((status, nth) => ({
          at: new Date(createdAt.getTime() + nth * 5000),
          status,
          ms: status === null ? 15_000 : 84 + 13 * index,
          ...(status === null ? { error: 'No response within 15 s' } : {}),
          of: type,
        })),
        nextAt: isDelivered ? null : later,
      };
    }),
  );
};

/** Simulates a month of a shop, day by day, by setting the service's clock. */
export const seed = async ({ baseUrl, dashboardUrl }: Addresses): Promise<Seeded> => {
  const real = clock.now;
  let back = days * dayMs;
  clock.now = () => real() - back;
  const signUp = async (account: typeof shop.developer | typeof shop.colleague): Promise<void> => {
    await send('POST', `${dashboardUrl}/api/auth/register`, {}, account);
    await setPlan(account.email, 'pro');
    await markVerified(developerAccounts, { email: account.email });
  };
  const signIn = async (account: typeof shop.developer | typeof shop.colleague) => {
    const { data } = await send<{ data: { accessToken: string } }>(
      'POST',
      `${dashboardUrl}/api/auth/login`,
      {},
      account,
    );
    return <T>(method: string, path: string, body?: unknown): Promise<T> =>
      send(method, `${dashboardUrl}/api${path}`, { authorization: `Bearer ${data.accessToken}` }, body);
  };
  try {
    await signUp(shop.developer);
    await signUp(shop.colleague);
    let dashboard = await signIn(shop.developer);
    const { data: project } = await dashboard<{ data: Project }>('POST', '/projects', {
      name: shop.name,
      siteUrl: 'https://fernandfield.example',
    });
    const own = `/projects/${project._id}`;
    await dashboard('POST', `${own}/collections`, { name: 'users', schema: shop.users });
    await dashboard('PATCH', own, {
      authEnabled: true,
      socialProviders: {
        github: { enabled: true, clientId: 'ferns', clientSecret: 'ferns' },
        gitlab: { clientId: 'ferns', clientSecret: 'ferns' },
        apple: { clientId: 'example.fernandfield', teamId: 'FERNS12345' },
      },
    });
    await dashboard('POST', `${own}/collections`, { name: 'plants', schema: shop.schema });
    await dashboard('POST', `${own}/collections`, {
      name: 'orders',
      schema: shop.orders,
      effects: shop.effects,
      rls: { enabled: true, mode: 'private', ownerField: 'customer' },
    });
    await dashboard('POST', `${own}/collections`, { name: 'journal', schema: null });
    await dashboard('POST', `${own}/collections/plants/indexes`, { keys: { price: 1, _id: 1 } });
    const api = <T>(method: string, path: string, body?: unknown, key = project.secretKey): Promise<T> =>
      send(method, `${baseUrl}/api${path}`, { 'x-api-key': key }, body);

    const people: string[] = [];
    for (let day = 0; day <= days; day++) {
      back = Math.max(0, (days - day) * dayMs - 3_600_000 * 2);
      const plant = shop.plants[day];
      if (plant) {
        const [name, price, stock, tags] = plant;
        const care = { water: stock % 2 ? 'once a week' : 'twice a week', degrees: 16 + (day % 9) };
        await api('POST', '/data/plants', { name, price, stock, sold: stock === 0, tags, care });
      }
      const person = day % 3 === 0 ? shop.people[day / 3] : undefined;
      if (person) {
        const [name, email] = person;
        const { userId } = await api<{ userId: string }>(
          'POST',
          '/userAuth/signup',
          { email, password: 'ten green bottles', name },
          project.publishableKey,
        );
        people.push(userId);
      }
      const customer = people[day % Math.max(1, people.length)];
      await api('POST', '/data/orders', {
        number: `FF-${1041 + day}`,
        total: 18 + ((day * 37) % 90),
        state: day > days - 3 ? 'open' : 'sent',
        ...(customer ? { customer } : {}),
      });
      // More on some days than on others.
      for (let read = 0; read < 6 + ((day * 7) % 19); read++) await api('GET', '/data/plants?sort=-price&limit=20');
      if (day % 5 === 2) await api('GET', '/data/nothing').catch(() => undefined);
      if (day % 6 === 0) {
        await api('POST', '/data/journal', {
          day: `Day ${day + 1}`,
          text: 'Watered everything.',
          weather: { rain: day % 4 },
        });
      }
    }
    back = 3 * 3_600_000;
    dashboard = await signIn(shop.developer);
    for (const [key, subject, text] of shop.templates) {
      await dashboard('POST', `${own}/mail/templates`, { key, name: subject, subject, text, html: `<p>${text}</p>` });
    }
    for (const [name, email] of shop.people.slice(0, 7)) {
      await api('POST', '/mail/send', { to: email, subject: 'Your order is on its way', text: `Hello ${name}.` });
    }
    await api('POST', '/mail/send', { to: 'bounced@resend.dev', subject: 'News of the greenhouse', text: 'Hello.' });
    await api('POST', '/mail/send', { to: 'complained@resend.dev', subject: 'News of the greenhouse', text: 'Hello.' });
    const upload = async (filename: string, contentType: string, bytes: Buffer, more: object = {}) => {
      const { signedUrl, filePath } = await api<{ signedUrl: string; filePath: string }>(
        'POST',
        '/storage/upload-request',
        { filename, contentType, size: bytes.length, ...more },
      );
      await fetch(signedUrl, { method: 'PUT', headers: { 'content-type': contentType }, body: new Uint8Array(bytes) });
      await api('POST', '/storage/upload-confirm', { filePath, size: bytes.length });
    };
    const { data: newest } = await api<{ data: { items: readonly { _id: string }[] } }>('GET', '/data/orders?limit=3');
    for (const { _id: id } of newest.items) {
      await upload('invoice.txt', 'text/plain', Buffer.from('An invoice.'), { of: { collection: 'orders', id } });
    }
    await upload('price-list.csv', 'text/csv', Buffer.from('name,price\nBoston fern,18.5\n'));
    for (const [filename, ...colour] of [
      ['boston-fern.png', 20, 90, 40],
      ['monstera.png', 10, 60, 50],
      ['lavender.png', 90, 60, 130],
      ['greenhouse.png', 100, 110, 60],
    ] as const) {
      await upload(filename, 'image/png', picture(colour), {
        ...(filename === 'greenhouse.png' && { visibility: 'private' }),
      });
    }
    const { data: listed } = await api<{ data: { items: readonly { _id: string }[] } }>(
      'GET',
      '/data/plants?sort=name&limit=3',
    );
    for (const { _id } of listed.items) await api('DELETE', `/data/plants/${_id}`);
    await dashboard('POST', `${own}/collections/plants/exports`, { format: 'ndjson' });
    await dashboard('POST', `${own}/members/invitations`, { email: 'radia@fernandfield.example', role: 'viewer' });
    await dashboard('POST', '/auth/tokens', { name: 'Nightly export', scopes: ['documents:read'] });
    // Emails sent after this use the project's own mail account, which holds the audiences.
    await dashboard('PATCH', own, { providerApiKey: shop.providerKey });
    const { data: readers } = await dashboard<{ data: { id: string } }>('POST', `${own}/mail/audiences`, {
      name: 'Readers of the greenhouse news',
    });
    for (const [name, email] of shop.people) {
      await dashboard('POST', `${own}/mail/audiences/${readers.id}/contacts`, { email, firstName: name.split(' ')[0] });
    }
    await dashboard('POST', `${own}/mail/broadcasts`, {
      audienceId: readers.id,
      from: 'Fern & Field <news@fernandfield.example>',
      subject: 'Ferns for shady corners',
      html: '<p>Three that ask for little light.</p>',
    });
    await tellTheStock(new ObjectId(project._id), people);
    const { data: other } = await dashboard<{ data: Project }>('POST', '/projects', { name: 'Greenhouse sensors' });
    return { full: project._id, empty: other._id };
  } finally {
    clock.now = real;
  }
};
