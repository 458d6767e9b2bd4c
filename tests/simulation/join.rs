use super::*;

#[test]
fn a_client_joins_walks_and_is_seen_where_it_is() {
    let mut game = game(demo(), link(50, 0, 0.0), 1);
    let mut bots = Wanderers::join(&mut game, 4, 1);
    run(&mut game, &mut bots, 5.0);
    for (_, client) in game.clients() {
        assert_eq!(*client.state(), ClientState::Playing, "{:?}", client.stats());
        assert_eq!(client.projection().characters.len(), 4);
        assert_eq!(client.stats().mispredictions(), 0, "{:?}", client.stats());
    }
    println!("{:#?}", game.server().metrics().reports);
    println!("{:#?}", game.server().metrics().counters);
    println!("{:#?}", game.clients().next().unwrap().1.stats());
}
