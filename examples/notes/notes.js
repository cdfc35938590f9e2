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

const links = new Map();

/** Pictures are private: whoever they are of opens them by a link, here for a week. */
const open = async (path, image) => {
  if (!links.has(path)) links.set(path, app.files.sign([path], { expiresIn: 7 * 24 * 3600 }));
  const [{ url = '' }] = await links.get(path);
  image.src = url;
};

const remove = async ({ _id, picture }) => {
  await app.notes.delete(_id, { permanent: true });
  if (picture) await app.files.delete(picture);
};

const row = (note) => {
  const item = element('li');
  item.append(element('p', { textContent: note.text }));
  if (note.picture) {
    const image = element('img', { alt: 'Picture of the note' });
    item.append(image);
    attempt(() => open(note.picture, image));
  }
  const onclick = ({ target }) => attempt(() => remove(note), target);
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
    const kept = picture.size > 0 && { picture: (await app.files.upload(picture)).path };
    await app.notes.insert({ text, ...kept });
    event.target.reset();
  }, event.submitter);
};

attempt(show);
