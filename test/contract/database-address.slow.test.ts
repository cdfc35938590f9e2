import { describe, expect, test, vi } from 'vitest';

describe('a database URI with credentials', () => {
  test.each([
    ['an invalid port', 'mongodb://admin:PASSWORD@127.0.0.1:port/'],
    ['an unknown option', 'mongodb://admin:PASSWORD@127.0.0.1:1/?nonsense=PASSWORD'],
    ['a bad escape', 'mongodb://admin:PASSWORD%@127.0.0.1:1/'],
    ['another scheme', 'postgres://admin:PASSWORD@127.0.0.1:1/'],
    ['no scheme', 'admin:PASSWORD@127.0.0.1'],
    ['an unknown mechanism', 'mongodb://admin:PASSWORD@127.0.0.1:1/?authMechanism=NONE'],
    ['an SRV record with a port', 'mongodb+srv://admin:PASSWORD@db.example.com:27017/'],
  ])('appears neither in the log nor in the response with %s', async (_what, uri) => {
    const hidden = 'xQ7secretPassword9';
    const before = process.env.MONGODB_URI ?? '';
    const written: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    process.env.MONGODB_URI = uri.replaceAll('PASSWORD', hidden);
    process.env.LOG = 'debug';
    vi.resetModules();
    try {
      const { handler } = await import('../../functions/data/list-documents.ts');
      const { invoke } = await import('../support/clients/invoke.ts');
      const answer = await invoke(handler, {
        key: `sk_live_${'a'.repeat(32)}`,
        params: { collectionName: 'notes' },
      });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(JSON.stringify(answer.body)).not.toContain(hidden);
    } finally {
      write.mockRestore();
      process.env.MONGODB_URI = before;
      process.env.LOG = 'silent';
    }
    expect(written.join('')).toContain('"level":"error"');
    expect(written.join('')).not.toContain(hidden);
  });
});
