// Notes of whoever is signed in: theirs alone, and the same in every window while they write.
import { basalt } from '@basalt/client';
import { key, url } from './project.js';

const app = basalt(url, key);
const at = (id) => document.getElementById(id);

/** Does what a button asks for, once at a time; what went wrong is shown. */
const attempt = (act, button = {}) => {
  at('problem').textContent = '';
  button.disabled = true;
  act()
    .catch((error) => {
      at('problem').textContent = error.message;
    })
    .finally(() => {
      button.disabled = false;
    });
};

const element = (name, properties) => Object.assign(document.createElement(name), properties);

const row = ({ _id, text, picture }) => {
  const item = element('li');
  item.append(element('p', { textContent: text }));
  if (picture) item.append(element('img', { src: picture, alt: 'Picture of the note' }));
  const onclick = ({ target }) => attempt(() => app.notes.delete(_id), target);
  item.append(element('button', { textContent: 'Delete', onclick }));
  return item;
};

let end = () => undefined;

/** Shows one's notes, as they are from now on, or what signs one in. */
const show = async () => {
  end();
  const isIn = (await app.auth.token()) !== undefined;
  for (const id of ['leave', 'write']) at(id).hidden = !isIn;
  at('enter').hidden = isIn;
  at('notes').replaceChildren();
  if (isIn) end = app.notes.live({}, (notes) => at('notes').replaceChildren(...notes.map(row)));
};

at('enter').onsubmit = (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  attempt(() => app.auth[event.submitter.value]({ email, password }).then(show), event.submitter);
};

at('leave').onclick = ({ target }) => attempt(() => app.auth.logout().finally(show), target);

at('write').onsubmit = (event) => {
  event.preventDefault();
  const { text, picture } = Object.fromEntries(new FormData(event.target));
  attempt(async () => {
    await app.notes.insert({ text, ...(picture.size > 0 && { picture: await keep(picture) }) });
    event.target.reset();
  }, event.submitter);
};

/** Files are kept by a server, which has the secret key: ours is server.ts. */
const keep = async (picture) => {
  const headers = { authorization: `Bearer ${await app.auth.token()}` };
  const answer = await fetch('/pictures', { method: 'POST', headers, body: picture });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
};

attempt(show);
