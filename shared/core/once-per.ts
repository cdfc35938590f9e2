/** What is made of an object, once for each and for as long as the object is there. */
export const oncePer = <Of extends object, Made extends object>(make: (of: Of) => Made): ((of: Of) => Made) => {
  const known = new WeakMap<Of, Made>();
  return (of) => {
    let made = known.get(of);
    if (!made) {
      made = make(of);
      known.set(of, made);
    }
    return made;
  };
};
