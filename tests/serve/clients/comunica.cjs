// Asks a SPARQL endpoint by Comunica, which finds out by itself what is there, and prints what it says, a line of JSON a query.
// Usage: node comunica.cjs ENDPOINT QUERY…, with NODE_PATH set.
const { QueryEngine } = require("@comunica/query-sparql");

async function ask(engine, endpoint, query) {
  const result = await engine.query(query, { sources: [endpoint] });
  if (result.resultType === "boolean") return await result.execute();
  const found = await (await result.execute()).toArray();
  if (result.resultType === "quads") return found.map((quad) => [quad.subject.value, quad.predicate.value, quad.object.value]);
  return found.map((row) => Object.fromEntries([...row].map(([variable, term]) => [variable.value, term.value])));
}

async function main([endpoint, ...queries]) {
  const engine = new QueryEngine();
  for (const query of queries) console.log(JSON.stringify(await ask(engine, endpoint, query)));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error));
  process.exitCode = 1;
});
