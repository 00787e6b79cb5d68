/** The Worker. A path that belongs to no event goes to the origin untouched. */
const worker: ExportedHandler = { fetch: (request) => fetch(request) };

export default worker;
