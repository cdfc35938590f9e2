import { beforeAll, describe, expect, test } from 'vitest';
import { type App, newApp, type Person } from '../../support/fixtures/app.ts';

/* The permissions that an app for field technicians needs, with the publishable key alone. Each test is one need. */

const isDispatcher = { $user: { role: 'dispatcher' } };
const isAssignee = { assignee: { $user: '_id' } };
const inRegion = { region: { $in: { $user: 'regions' } } };
const ofOwnJob = { $ref: { job: isAssignee } };

const collections = [
  {
    name: 'customers',
    schema: [
      { key: 'name', type: 'String', required: true },
      { key: 'doorCode', type: 'String' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: {
          $or: [
            {
              _id: {
                $in: { $from: 'jobs', select: 'customer', where: { assignee: { $user: '_id' }, status: 'open' } },
              },
            },
            isDispatcher,
          ],
        },
        create: isDispatcher,
        update: isDispatcher,
      },
    },
  },
  {
    name: 'jobs',
    changes: true,
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'customer', type: 'Ref', ref: 'customers' },
      { key: 'region', type: 'String', enum: ['north', 'south'], required: true },
      { key: 'assignee', type: 'Ref', ref: 'users' },
      { key: 'status', type: 'String', enum: ['open', 'done'], default: 'open' },
      { key: 'note', type: 'String' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: { $or: [isAssignee, inRegion, isDispatcher] },
        create: isDispatcher,
        update: {
          before: { $or: [isAssignee, isDispatcher] },
          after: { $or: [isDispatcher, { $stored: { status: 'open' }, $only: ['status', 'note'] }] },
        },
        delete: isDispatcher,
      },
    },
  },
  {
    name: 'readings',
    changes: true,
    schema: [
      { key: 'job', type: 'Ref', ref: 'jobs', required: true, exists: true },
      { key: 'celsius', type: 'Number', min: -60, max: 120, required: true },
      { key: 'takenAt', type: 'Date', required: true },
    ],
    closed: true,
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'technician',
      rules: {
        read: { $or: [ofOwnJob, isDispatcher] },
        create: { $ref: { job: { assignee: { $user: '_id' }, status: 'open' } } },
      },
    },
  },
  {
    name: 'tools',
    schema: [
      { key: 'name', type: 'String', required: true },
      { key: 'holder', type: 'String' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: { $user: {} },
        create: isDispatcher,
        update: {
          before: { $user: {} },
          after: {
            $or: [
              isDispatcher,
              { $only: ['holder'], $stored: { holder: { $exists: false } }, holder: { $user: '_id' } },
              { $only: ['holder'], $stored: { holder: null }, holder: { $user: '_id' } },
              { $only: ['holder'], $stored: { holder: { $user: '_id' } }, holder: null },
            ],
          },
        },
      },
    },
  },
  {
    name: 'positions',
    schema: [
      { key: 'latitude', type: 'Number', min: -90, max: 90, required: true },
      { key: 'longitude', type: 'Number', min: -180, max: 180, required: true },
    ],
    unique: [['technician']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'technician',
      rules: {
        read: { $or: [{ technician: { $user: '_id' } }, isDispatcher] },
        create: { $user: {} },
        update: { technician: { $user: '_id' } },
      },
    },
  },
  {
    name: 'hours',
    schema: [
      { key: 'day', type: 'Date', required: true },
      { key: 'minutes', type: 'Number', min: 1, max: 1440, integer: true, required: true },
      { key: 'approved', type: 'Boolean', default: false, write: isDispatcher },
    ],
    unique: [['technician', 'day']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'technician',
      rules: {
        read: { $or: [{ technician: { $user: '_id' } }, isDispatcher] },
        create: { $user: {} },
        update: { $or: [{ technician: { $user: '_id' }, approved: false }, isDispatcher] },
        delete: { technician: { $user: '_id' }, approved: false },
      },
    },
  },
];

const users = [
  { key: 'role', type: 'String', write: 'server' },
  { key: 'regions', type: 'Array', items: { type: 'String' }, write: 'server' },
];

let app: App;
let dispatcher: Person;
let anna: Person;
let ben: Person;
let head: Person;
let customer: string;

const newJob = (more: object = {}) =>
  dispatcher.add('jobs', { title: 'Boiler', customer, region: 'north', assignee: anna.id, ...more });

const newId = (at = Date.now()): string =>
  Math.floor(at / 1000)
    .toString(16)
    .padStart(8, '0') + Math.random().toString(16).slice(2, 10).padEnd(16, '0');

const put = (person: Person, collection: string, id: string, body: object) =>
  person.call<{ code?: string }>('PUT', `${collection}/${id}`, body, { 'if-none-match': '*' });

beforeAll(async () => {
  app = await newApp(collections, users);
  dispatcher = await app.person({ role: 'dispatcher' });
  [anna, ben, head] = [await app.person(), await app.person(), await app.person({ regions: ['north'] })];
  customer = await dispatcher.add('customers', { name: 'Mill', doorCode: '4711' });
});

describe('an app for field technicians', () => {
  test('lets the dispatcher create and assign jobs, but not technicians', async () => {
    const job = await newJob();
    expect((await anna.insert('jobs', { title: 'Mine', region: 'north' })).status).toBe(403);
    expect(await anna.update('jobs', job, { assignee: ben.id })).toBe(403);
    expect(await dispatcher.update('jobs', job, { assignee: ben.id })).toBe(200);
  });

  test('shows a job to its technician until it is assigned to another one', async () => {
    const job = await newJob();
    expect(await anna.ids('jobs')).toContain(job);
    expect((await ben.get('jobs', job)).status).toBe(404);
    expect(await dispatcher.update('jobs', job, { assignee: ben.id })).toBe(200);
    expect((await anna.get('jobs', job)).status).toBe(404);
    expect((await ben.get('jobs', job)).status).toBe(200);
  });

  test('shows the jobs of a region to its head without letting them change any', async () => {
    const [north, south] = [await newJob(), await newJob({ region: 'south' })];
    expect(await head.ids('jobs')).toContain(north);
    expect(await head.ids('jobs')).not.toContain(south);
    expect(await head.update('jobs', north, { note: 'x' })).toBe(403);
    await app.grant(head, { regions: ['south'] });
    expect((await head.get('jobs', north)).status).toBe(404);
    await app.grant(head, { regions: ['north'] });
  });

  test('lets a technician finish an open job with a note, and change nothing else', async () => {
    const job = await newJob();
    expect(await anna.update('jobs', job, { title: 'Easy' })).toBe(403);
    expect(await anna.update('jobs', job, { note: 'valve', status: 'done' })).toBe(200);
    expect(await anna.update('jobs', job, { status: 'open' })).toBe(403);
    expect(await dispatcher.update('jobs', job, { status: 'open' })).toBe(200);
  });

  test('shows the door code of a customer only while a job there is open', async () => {
    const mill = await dispatcher.add('customers', { name: 'Dam', doorCode: '0815' });
    const job = await newJob({ customer: mill });
    expect((await anna.get('customers', mill)).body).toMatchObject({ doorCode: '0815' });
    expect((await ben.get('customers', mill)).status).toBe(404);
    expect(await anna.update('jobs', job, { status: 'done' })).toBe(200);
    expect((await anna.get('customers', mill)).status).toBe(404);
  });

  test('shows a job together with its customer to the technician', async () => {
    const job = await newJob();
    expect((await anna.get('jobs', job, 'populate=customer')).body).toMatchObject({ customer: { name: 'Mill' } });
    const forHead = (await head.get('jobs', job, 'populate=customer')).body;
    expect(forHead).toMatchObject({ customer });
  });

  test('accepts readings of open jobs only from their technician', async () => {
    const job = await newJob();
    const reading = { job, celsius: 60, takenAt: '2030-01-01T10:00:00Z' };
    expect((await anna.insert('readings', reading)).status).toBe(201);
    expect((await ben.insert('readings', reading)).status).toBe(403);
    expect(await anna.update('jobs', job, { status: 'done' })).toBe(200);
    expect((await anna.insert('readings', reading)).status).toBe(403);
  });

  test('rejects impossible readings and unknown fields', async () => {
    const job = await newJob();
    const takenAt = '2030-01-01T10:00:00Z';
    expect((await anna.insert('readings', { job, celsius: 1200, takenAt })).status).toBe(400);
    expect((await anna.insert('readings', { job, celsius: '60', takenAt })).status).toBe(400);
    expect((await anna.insert('readings', { job, celsius: 60, takenAt, pressure: 1 })).status).toBe(400);
  });

  test('does not let readings be changed or deleted', async () => {
    const job = await newJob();
    const reading = await anna.add('readings', { job, celsius: 60, takenAt: '2030-01-01T10:00:00Z' });
    expect(await anna.update('readings', reading, { celsius: 61 })).toBe(403);
    expect(await anna.remove('readings', reading)).toBe(403);
    expect(await dispatcher.ids('readings', `job=${job}`)).toEqual([reading]);
  });

  test('stores an offline document once under the id that the phone chose', async () => {
    const job = await newJob();
    const id = newId();
    const reading = { job, celsius: 60, takenAt: '2030-01-01T10:00:00Z' };
    expect((await put(anna, 'readings', id, reading)).status).toBe(201);
    expect(await put(anna, 'readings', id, reading)).toMatchObject({ status: 412, body: { code: 'DOCUMENT_EXISTS' } });
    expect((await put(ben, 'readings', newId(), reading)).status).toBe(403);
    expect((await put(anna, 'readings', newId(Date.now() + 2 * 86_400_000), reading)).status).toBe(400);
  });

  test('sends a phone the changes since its last sync', async () => {
    const changes = await anna.changesFromNow('jobs');
    const mine = await newJob({ title: 'for anna' });
    const foreign = await newJob({ title: 'for ben', assignee: ben.id });
    const seen = await changes();
    for (const part of [mine, 'for anna', foreign]) expect(seen).toContain(part);
    expect(seen).not.toContain('for ben');
  });

  test('lends a tool to one technician at a time until they return it', async () => {
    const tool = await dispatcher.add('tools', { name: 'Drill' });
    const taken = await Promise.all([anna, ben].map((person) => person.update('tools', tool, { holder: person.id })));
    expect(taken.toSorted()).toEqual([200, 403]);
    const [holder, other] = taken[0] === 200 ? [anna, ben] : [ben, anna];
    expect(await other.update('tools', tool, { holder: null })).toBe(403);
    expect(await other.update('tools', tool, { name: 'Mine' })).toBe(403);
    expect(await holder.update('tools', tool, { holder: null })).toBe(200);
    expect(await other.update('tools', tool, { holder: other.id })).toBe(200);
  });

  test('keeps one position per technician, visible only to them and the dispatcher', async () => {
    const position = await anna.add('positions', { latitude: 50, longitude: 8 });
    expect((await anna.insert('positions', { latitude: 51, longitude: 8 })).status).toBe(409);
    expect(await anna.update('positions', position, { latitude: 51 })).toBe(200);
    expect(await anna.update('positions', position, { latitude: 91 })).toBe(400);
    expect(await ben.ids('positions')).toEqual([]);
    expect(await dispatcher.ids('positions')).toEqual([position]);
  });

  test('keeps one time entry per day, which cannot be changed after the dispatcher approves it', async () => {
    const entry = await anna.add('hours', { day: '2030-01-01', minutes: 480 });
    expect((await anna.insert('hours', { day: '2030-01-01', minutes: 60 })).status).toBe(409);
    expect((await anna.insert('hours', { day: '2030-01-02', minutes: 60, approved: true })).status).toBe(403);
    expect(await anna.update('hours', entry, { minutes: 450 })).toBe(200);
    expect(await anna.update('hours', entry, { approved: true })).toBe(403);
    expect(await dispatcher.update('hours', entry, { approved: true })).toBe(200);
    expect(await anna.update('hours', entry, { minutes: 900 })).toBe(403);
    expect(await anna.remove('hours', entry)).toBe(403);
    expect(await ben.ids('hours')).toEqual([]);
  });
});
