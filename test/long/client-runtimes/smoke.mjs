// What an app does first, in any runtime: sign-up, its own documents, a list, a file and a failure.
export const smoke = async ({ basalt, BasaltError }, { url, publishableKey, secretKey }) => {
  const app = basalt(url, publishableKey);
  const email = `user-${Date.now()}-${Math.random()}@example.com`;
  await app.auth.signup({ email, password: 'correct horse' });
  await app.tasks.insert({ title: 'mine' });
  const { items } = await app.tasks.list({ where: { title: { $startsWith: 'mi' } }, fields: ['title'], meta: false });
  const titles = [];
  for await (const { title } of app.tasks.each()) titles.push(title);
  const isMe = (await app.auth.me()).email === email;
  await app.auth.logout();
  const failure = await app.tasks.list().catch((error) => error);
  const { url: stored } = await basalt(url, secretKey).files.upload(new Blob(['Hello']), { filename: 'hello.txt' });
  const text = await (await fetch(stored)).text();
  return { titles, listed: items.length, isMe, failure: failure instanceof BasaltError && failure.code, text };
};
